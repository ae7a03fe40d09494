"""What each HTTP operation does, one file per subject."""
