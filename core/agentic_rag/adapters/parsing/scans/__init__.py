"""Words of pages that are pictures, by an engine that recognises letters (OCR): the optional extra `ocr`."""
