"""One function of a user: signature, argument types, examples, verdict, pinned examples."""
