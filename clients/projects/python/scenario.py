import pkgutil
from importlib import import_module

import rowhouse

for module in pkgutil.walk_packages(rowhouse.__path__, "rowhouse."):
    import_module(module.name)
