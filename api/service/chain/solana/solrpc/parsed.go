package solrpc

import (
	"encoding/binary"
	"maps"
	"strconv"

	"coffer/api/op/solmsg"
)

// shape is how an instruction is shown: its type, the names of its accounts, and the rest of its information.
type shape struct {
	name  string
	roles []string
	info  map[string]any
}

// parsedInstruction reads an instruction of the ledger's programs; the value is nil for one that it cannot read.
func parsedInstruction(program solmsg.Key, accounts []solmsg.Key, data []byte) (string, any) {
	var s shape
	var ok bool
	var name string
	switch program {
	case solmsg.MemoProgram():
		if text, ok := solmsg.DecodeMemo(data); ok {
			return "spl-memo", text
		}
	case solmsg.SystemProgram():
		name = "system"
		s, ok = system(data)
	case solmsg.ATAProgram():
		name = "spl-associated-token-account"
		s, ok = associated(data)
	case solmsg.TokenProgram():
		name = "spl-token"
		s, ok = token(data)
	}
	if !ok || len(accounts) < len(s.roles) {
		return "", nil
	}
	info := map[string]any{}
	maps.Copy(info, s.info)
	for i, role := range s.roles {
		info[role] = accounts[i].String()
	}
	return name, typed{s.name, info}
}

func system(data []byte) (shape, bool) {
	if len(data) < 4 {
		return shape{}, false
	}
	b := data[4:]
	u64 := binary.LittleEndian.Uint64
	switch tag := binary.LittleEndian.Uint32(data); {
	case tag == 0 && len(b) >= 48:
		return shape{"createAccount", []string{"source", "newAccount"}, map[string]any{"lamports": u64(b),
			"space": u64(b[8:]), "owner": solmsg.Key(b[16:48]).String()}}, true
	case tag == 1 && len(b) >= 32:
		return shape{"assign", []string{"account"}, map[string]any{"owner": solmsg.Key(b[:32]).String()}}, true
	case tag == 2 && len(b) >= 8:
		return shape{"transfer", []string{"source", "destination"}, map[string]any{"lamports": u64(b)}}, true
	case tag == 8 && len(b) >= 8:
		return shape{"allocate", []string{"account"}, map[string]any{"space": u64(b)}}, true
	}
	return shape{}, false
}

func associated(data []byte) (shape, bool) {
	kind, ok := solmsg.DecodeATA(data)
	if !ok || kind == solmsg.ATARecoverNested {
		return shape{}, false
	}
	name := "create"
	if kind == solmsg.ATACreateIdempotent {
		name = "createIdempotent"
	}
	return shape{name, []string{"source", "account", "wallet", "mint", "systemProgram", "tokenProgram"}, nil}, true
}

func token(data []byte) (shape, bool) {
	if len(data) == 0 {
		return shape{}, false
	}
	b := data[1:]
	switch tag := data[0]; {
	case tag == 3 && len(b) >= 8:
		return shape{"transfer", []string{"source", "destination", "authority"}, plain(b)}, true
	case tag == 4 && len(b) >= 8:
		return shape{"approve", []string{"source", "delegate", "owner"}, plain(b)}, true
	case tag == 5:
		return shape{"revoke", []string{"source", "owner"}, nil}, true
	case tag == 9:
		return shape{"closeAccount", []string{"account", "destination", "owner"}, nil}, true
	case tag == 12 && len(b) >= 9:
		return shape{"transferChecked", []string{"source", "mint", "destination", "authority"}, checked(b)}, true
	case tag == 13 && len(b) >= 9:
		return shape{"approveChecked", []string{"source", "mint", "delegate", "owner"}, checked(b)}, true
	case tag == 17:
		return shape{"syncNative", []string{"account"}, nil}, true
	case tag == 18 && len(b) >= 32:
		return shape{"initializeAccount3", []string{"account", "mint"}, map[string]any{
			"owner": solmsg.Key(b[:32]).String()}}, true
	case tag == 21 && len(b) == 2:
		return shape{"getAccountDataSize", []string{"mint"}, map[string]any{
			"extensionTypes": []string{"immutableOwner"}}}, true
	case tag == 22:
		return shape{"initializeImmutableOwner", []string{"account"}, nil}, true
	}
	return shape{}, false
}

func plain(b []byte) map[string]any {
	return map[string]any{"amount": strconv.FormatUint(binary.LittleEndian.Uint64(b), 10)}
}

func checked(b []byte) map[string]any {
	return map[string]any{"tokenAmount": tokenAmount(binary.LittleEndian.Uint64(b), b[8])}
}
