package main

import _ "scenario/rowhouse"

func main() {}
