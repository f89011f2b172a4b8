package solrpc

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/jsonrpc"
)

func (n *node) transaction(ctx context.Context, p jsonrpc.Params) (any, error) {
	var name string
	if err := p.Read(0, &name); err != nil {
		return nil, err
	}
	if _, err := parseSignature(name); err != nil {
		return nil, err
	}
	var c config
	if json.Unmarshal(at(p, 1), &c.Encoding) != nil { // the older form is the encoding alone
		var err error
		if c, err = n.config(p, 1); err != nil {
			return nil, err
		}
	}
	if err := below(c); err != nil {
		return nil, err
	}
	r, found, err := n.ledger.Receipt(ctx, name)
	if err != nil || !found {
		return nil, err
	}
	m, err := solmsg.Parse(r.Message)
	if err != nil {
		return nil, err
	}
	if m.Version == solmsg.V0 && c.MaxVersion == nil {
		return nil, jsonrpc.Errorf(codeVersion, "Transaction version (0) is not supported by the requesting client. "+
			"Please try the request again with the following configuration parameter: "+
			"\"maxSupportedTransactionVersion\": 0")
	}
	tx, err := encodeTransaction(r, m, c.Encoding)
	if err != nil {
		return nil, err
	}
	out := map[string]any{"slot": r.Slot, "blockTime": r.Time, "transaction": tx, "meta": nil}
	if r.Number > 0 { // the balances of older ones were not kept
		out["meta"] = meta(r, m, c.Encoding)
	}
	if c.MaxVersion != nil {
		out["version"] = version(m)
	}
	return out, nil
}

func at(p jsonrpc.Params, i int) json.RawMessage {
	if p.Has(i) {
		return p[i]
	}
	return nil
}

func version(m solmsg.Message) any {
	if m.Version == solmsg.V0 {
		return 0
	}
	return "legacy"
}

// wire is a transaction as it is sent.
func wire(r ledger.Receipt) ([]byte, error) {
	out := []byte{byte(len(r.Signatures))}
	for _, s := range r.Signatures {
		sig, err := solmsg.ParseSignature(s)
		if err != nil {
			return nil, err
		}
		out = append(out, sig[:]...)
	}
	return append(out, r.Message...), nil
}

func encodeTransaction(r ledger.Receipt, m solmsg.Message, encoding string) (any, error) {
	switch encoding {
	case asBase58, asBase64:
		raw, err := wire(r)
		if err != nil {
			return nil, err
		}
		if encoding == asBase58 {
			return []string{solmsg.Base58(raw), encoding}, nil
		}
		return []string{base64.StdEncoding.EncodeToString(raw), encoding}, nil
	case asJSON, asParsed, "":
	default:
		return nil, invalid("the encoding %q is not served; use json, jsonParsed, base64 or base58", encoding)
	}
	message := map[string]any{"recentBlockhash": m.Blockhash.String(), "instructions": instructions(m, encoding)}
	if encoding == asParsed {
		keys := []map[string]any{}
		for _, a := range m.Accounts() {
			keys = append(keys, map[string]any{"pubkey": a.Key.String(), "signer": a.Signer, "writable": a.Writable,
				"source": "transaction"})
		}
		message["accountKeys"] = keys
	} else {
		message["accountKeys"] = texts(m.Keys)
		message["header"] = map[string]uint8{"numRequiredSignatures": m.Header.RequiredSignatures,
			"numReadonlySignedAccounts":   m.Header.ReadonlySigned,
			"numReadonlyUnsignedAccounts": m.Header.ReadonlyUnsigned}
	}
	if m.Version == solmsg.V0 {
		message["addressTableLookups"] = []struct{}{} // the ledger has none
	}
	return map[string]any{"signatures": r.Signatures, "message": message}, nil
}

func texts(keys []solmsg.Key) []string {
	out := []string{}
	for _, k := range keys {
		out = append(out, k.String())
	}
	return out
}

// Depths of the instructions of a message, and of those that programs call.
const (
	outer  = 1
	called = 2
)

func instructions(m solmsg.Message, encoding string) []any {
	out := []any{}
	for _, ix := range m.Instructions {
		out = append(out, instruction(m, ix, encoding, outer))
	}
	return out
}

// instruction is one instruction.
func instruction(m solmsg.Message, ix solmsg.Instruction, encoding string, depth int) any {
	var accounts []solmsg.Key
	for _, a := range ix.Accounts {
		accounts = append(accounts, a.Key)
	}
	if encoding != asParsed {
		places := []int{}
		for _, k := range accounts {
			places = append(places, slices.Index(m.Keys, k))
		}
		return map[string]any{"programIdIndex": slices.Index(m.Keys, ix.Program), "accounts": places,
			"data": solmsg.Base58(ix.Data), "stackHeight": depth}
	}
	if program, v := parsedInstruction(ix.Program, accounts, ix.Data); v != nil {
		return map[string]any{"program": program, "programId": ix.Program.String(), "parsed": v, "stackHeight": depth}
	}
	return map[string]any{"programId": ix.Program.String(), "accounts": texts(accounts), "data": solmsg.Base58(ix.Data),
		"stackHeight": depth}
}

// inner lists the instructions that programs called, by the instruction that led to them.
func inner(r ledger.Receipt, m solmsg.Message, encoding string) any {
	type group struct {
		Index        int   `json:"index"`
		Instructions []any `json:"instructions"`
	}
	out := []group{}
	for _, in := range r.Inner {
		ix := solmsg.Instruction{Program: m.Keys[in.Program], Data: in.Data}
		for _, place := range in.Accounts {
			ix.Accounts = append(ix.Accounts, solmsg.Account{Key: m.Keys[place]})
		}
		if len(out) == 0 || out[len(out)-1].Index != in.Instruction {
			out = append(out, group{Index: in.Instruction})
		}
		last := &out[len(out)-1]
		last.Instructions = append(last.Instructions, instruction(m, ix, encoding, called))
	}
	return out
}

// tokenBalance is what a token account of a message held.
type tokenBalance struct {
	AccountIndex  int    `json:"accountIndex"`
	Mint          string `json:"mint"`
	Owner         string `json:"owner"`
	ProgramID     string `json:"programId"`
	UITokenAmount tokens `json:"uiTokenAmount"`
}

func meta(r ledger.Receipt, m solmsg.Message, encoding string) any {
	before, after := []tokenBalance{}, []tokenBalance{}
	for _, b := range r.Tokens {
		t := tokenBalance{AccountIndex: b.Account, Mint: b.Mint, Owner: b.Owner,
			ProgramID: solmsg.TokenProgram().String()}
		if b.Pre != nil {
			t.UITokenAmount = tokenAmount(*b.Pre, b.Decimals)
			before = append(before, t)
		}
		if b.Post != nil {
			t.UITokenAmount = tokenAmount(*b.Post, b.Decimals)
			after = append(after, t)
		}
	}
	out := map[string]any{
		"err": failure(r), "status": result(r), "fee": r.Fee, "preBalances": r.Pre, "postBalances": r.Post,
		"preTokenBalances": before, "postTokenBalances": after, "innerInstructions": inner(r, m, encoding),
		"logMessages": r.Logs, "rewards": []struct{}{},
	}
	if encoding != asParsed {
		out["loadedAddresses"] = map[string][]string{"writable": {}, "readonly": {}}
	}
	return out
}
