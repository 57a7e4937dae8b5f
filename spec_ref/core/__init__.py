"""What every module uses: format versions, records, errors, days and decimals (Format Versioning)."""
