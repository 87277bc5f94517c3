module plimsoll.example/plimsoll

go 1.26

toolchain go1.26.8
