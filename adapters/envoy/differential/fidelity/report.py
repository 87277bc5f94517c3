def write(path, scenarios): pass
