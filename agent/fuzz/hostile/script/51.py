while True:
    try:
        etf_search(query='a' * 100000)
    except ToolError:
        pass