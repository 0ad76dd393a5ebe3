"""One module for each binary layout: dtypes, model, decode, encode. Nothing here opens a file."""
