x = {}
for i in range(50000): x = {'a': x}
import json
json.dumps(x)