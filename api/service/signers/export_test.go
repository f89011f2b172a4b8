package signers

// Plain is the key of the treasury as one that signs often.
func Plain(treasury EVM) *Key { return treasury.(seldom).Key }
