"""The product for hosts of the Model Context Protocol: tools and resources over the use cases that REST has."""
