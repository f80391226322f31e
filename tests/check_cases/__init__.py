"""Functions as programmers ask for them, with candidates whose true behaviours are known, one TOML file each.

What a file says: ``class``; ``target``, what comes after ``module.py::``; ``module``, the user's file; ``candidates``,
their programs by name; ``same``, the names in groups of one behaviour inside the documented domain; ``differs``, for
each two groups a call on which they differ; ``why`` in a line; ``draw``, a Python expression over a ``random.Random`` r
that writes a call inside the domain, by which test_truth.py tries what ``same`` says. Optional: ``expected``, the
verdict; ``contradicts``, who contradicts an example; ``options`` of the command; ``needs``, packages; ``files``, what
stands beside the module; ``ruled_out``, a call outside the domain on which candidates differ; ``allows``, what the
docstring says in prose of the domain, as a Python expression over the parameters that only the tests see.
"""
