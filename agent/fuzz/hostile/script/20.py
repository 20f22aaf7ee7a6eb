import json
json.loads('[' * 100000)