"""What recorded candidates tell: signals, agreement, selection, questions, prices."""
