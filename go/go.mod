module plimsoll.example/plimsoll

go 1.26
