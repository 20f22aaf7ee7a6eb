import json
x = json.dumps(['a' * 1000000] * 100)