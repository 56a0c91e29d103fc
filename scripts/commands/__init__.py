"""The sub-commands of `contramem`, one file each."""
