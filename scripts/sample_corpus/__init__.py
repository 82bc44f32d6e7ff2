"""Sources and renderers of the PDF and DOCX half of the sample corpus."""
