package solrpc

import (
	"context"
	"encoding/base64"
	"math/big"
	"slices"
	"strconv"

	"coffer/api/amount"
	"coffer/api/op/solmsg"
	ledger "coffer/api/service/chain/solana"
	"coffer/api/service/jsonrpc"
)

// accountJSON is an account. The rent epoch is 0: mainnet's 2^64-1 is no exact number in JavaScript.
type accountJSON struct {
	Lamports   uint64 `json:"lamports"`
	Owner      string `json:"owner"`
	Data       any    `json:"data"`
	Executable bool   `json:"executable"`
	RentEpoch  uint64 `json:"rentEpoch"`
	Space      int    `json:"space"`
}

// keyed is an account with its address.
type keyed struct {
	Pubkey  string       `json:"pubkey"`
	Account *accountJSON `json:"account"`
}

// Owners of programs: those of the runtime itself, and those that it loads.
const (
	nativeLoader = "NativeLoader1111111111111111111111111111111"
	loader       = "BPFLoader2111111111111111111111111111111111"
)

// Encodings of data.
const (
	asBase58 = "base58"
	asBase64 = "base64"
	asParsed = "jsonParsed"
	asJSON   = "json"
)

// maxBase58 is how much data of an account may be asked for in base58.
const maxBase58 = 128

// encode writes an account, nil when there is none.
func encode(st ledger.State, k solmsg.Key, a ledger.Account, encoding string, part *slicing) (*accountJSON, error) {
	if !slices.Contains([]string{"", asBase58, asBase64, asParsed}, encoding) {
		return nil, invalid("the encoding %q is not served; use base64, base58 or jsonParsed", encoding)
	}
	out := &accountJSON{Lamports: a.Lamports, Owner: a.Owner.String(), Space: len(a.Data)}
	switch {
	case ledger.IsProgram(k):
		out.Executable, out.Owner = true, loader
		if k == solmsg.SystemProgram() || k == solmsg.ComputeBudgetProgram() {
			out.Owner = nativeLoader
		}
	case a.Lamports == 0:
		return nil, nil
	}
	if encoding == asParsed {
		v, err := parsedAccount(st, a)
		if err != nil || v != nil {
			out.Data = v
			return out, err
		}
		encoding = asBase64 // as nodes do with what they cannot read
	}
	data := a.Data
	if part != nil {
		from := min(part.Offset, uint64(len(data)))
		data = data[from:][:min(part.Length, uint64(len(data))-from)]
	}
	if encoding == asBase64 {
		out.Data = []string{base64.StdEncoding.EncodeToString(data), asBase64}
		return out, nil
	}
	if len(data) > maxBase58 {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidRequest, "Encoded binary (base 58) data should be less than "+
			"%d bytes, please use Base64 encoding.", maxBase58)
	}
	out.Data = []string{solmsg.Base58(data), asBase58}
	if encoding == "" {
		out.Data = solmsg.Base58(data) // the oldest form
	}
	return out, nil
}

type parsed struct {
	Program string `json:"program"`
	Parsed  any    `json:"parsed"`
	Space   int    `json:"space"`
}

type typed struct {
	Type string `json:"type"`
	Info any    `json:"info"`
}

// parsedAccount reads token accounts and mints; nil for other accounts.
func parsedAccount(st ledger.State, a ledger.Account) (any, error) {
	if supply, decimals, ok := ledger.AsMint(a); ok {
		return parsed{"spl-token", typed{"mint", map[string]any{
			"decimals": decimals, "freezeAuthority": nil, "isInitialized": true, "mintAuthority": nil,
			"supply": strconv.FormatUint(supply, 10),
		}}, len(a.Data)}, nil
	}
	t, ok := ledger.AsToken(a)
	if !ok {
		return nil, nil
	}
	mint, err := st.Account(t.Mint)
	if err != nil {
		return nil, err
	}
	_, decimals, ok := ledger.AsMint(mint)
	if !ok {
		return nil, nil
	}
	info := map[string]any{"isNative": false, "mint": t.Mint.String(), "owner": t.Owner.String(),
		"state": "initialized", "tokenAmount": tokenAmount(t.Amount, decimals)}
	if t.Delegate != nil {
		info["delegate"], info["delegatedAmount"] = t.Delegate.String(), tokenAmount(t.Delegated, decimals)
	}
	return parsed{"spl-token", typed{"account", info}, len(a.Data)}, nil
}

// tokens is an amount of a token.
type tokens struct {
	Amount         string  `json:"amount"`
	Decimals       uint8   `json:"decimals"`
	UIAmount       float64 `json:"uiAmount"`
	UIAmountString string  `json:"uiAmountString"`
}

func tokenAmount(v uint64, decimals uint8) tokens {
	whole := amount.Plain(new(big.Int).SetUint64(v), int(decimals))
	f, _ := strconv.ParseFloat(whole, 64) // digits and a point
	return tokens{strconv.FormatUint(v, 10), decimals, f, whole}
}

// read runs f on the latest state.
func (n *node) read(ctx context.Context, f func(ledger.State) error) error {
	st, err := n.ledger.State(ctx)
	if err != nil {
		return err
	}
	defer st.Close()
	return f(st)
}

func (n *node) balance(ctx context.Context, p jsonrpc.Params) (any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	var v uint64
	err = n.read(ctx, func(st ledger.State) error { v, err = st.Lamports(k); return err })
	return n.answer(v), err
}

func (n *node) account(ctx context.Context, p jsonrpc.Params) (any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	all, err := n.encoded(ctx, []solmsg.Key{k}, c)
	if err != nil {
		return nil, err
	}
	return n.answer(all[0]), nil
}

// maxAccounts is how many accounts a call may ask for.
const maxAccounts = 100

func (n *node) accounts(ctx context.Context, p jsonrpc.Params) (any, error) {
	var texts []string
	if err := p.Read(0, &texts); err != nil {
		return nil, err
	}
	if len(texts) > maxAccounts {
		return nil, jsonrpc.Errorf(jsonrpc.CodeInvalidParams, "Too many inputs provided; max %d", maxAccounts)
	}
	c, err := n.config(p, 1)
	if err != nil {
		return nil, err
	}
	keys, err := parseKeys(texts)
	if err != nil {
		return nil, err
	}
	all, err := n.encoded(ctx, keys, c)
	return n.answer(all), err
}

func parseKeys(texts []string) (keys []solmsg.Key, err error) {
	for _, s := range texts {
		k, err := parseKey(s)
		if err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, nil
}

func (n *node) encoded(ctx context.Context, keys []solmsg.Key, c config) ([]*accountJSON, error) {
	out := make([]*accountJSON, len(keys))
	return out, n.read(ctx, func(st ledger.State) error {
		for i, k := range keys {
			a, err := st.Account(k)
			if err != nil {
				return err
			}
			if out[i], err = encode(st, k, a, c.Encoding, c.DataSlice); err != nil {
				return err
			}
		}
		return nil
	})
}

// filter is what getTokenAccountsByOwner looks for.
type filter struct {
	Mint      string `json:"mint"`
	ProgramID string `json:"programId"`
}

func (n *node) tokenAccounts(ctx context.Context, p jsonrpc.Params) (any, error) {
	owner, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	var f filter
	if err := p.Read(1, &f); err != nil {
		return nil, err
	}
	c, err := n.config(p, 2)
	if err != nil {
		return nil, err
	}
	var mint *solmsg.Key
	switch program, _ := solmsg.ParseKey(f.ProgramID); {
	case f.Mint != "":
		k, err := parseKey(f.Mint)
		if err != nil {
			return nil, err
		}
		mint = &k
	case program == solmsg.Token2022Program():
		return n.answer([]keyed{}), nil // none of its accounts can exist
	case program != solmsg.TokenProgram():
		return nil, invalid("unrecognized Token program id")
	}
	keys, all, err := n.ledger.TokenAccounts(owner)
	if err != nil {
		return nil, err
	}
	out := []keyed{}
	err = n.read(ctx, func(st ledger.State) error {
		if mint != nil {
			if a, err := st.Account(*mint); err != nil || a.Owner != solmsg.TokenProgram() {
				return orElse(err, invalid("could not find mint"))
			}
		}
		for i, a := range all {
			if t, _ := ledger.AsToken(a); mint != nil && t.Mint != *mint {
				continue
			}
			v, err := encode(st, keys[i], a, c.Encoding, c.DataSlice)
			if err != nil {
				return err
			}
			out = append(out, keyed{keys[i].String(), v})
		}
		return nil
	})
	return n.answer(out), err
}

func orElse(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// token reads the account of a call that is about one token account or mint.
func (n *node) token(ctx context.Context, p jsonrpc.Params, read func(ledger.State, ledger.Account) (tokens, error)) (
	any, error) {
	k, err := readKey(p, 0)
	if err != nil {
		return nil, err
	}
	if _, err := n.config(p, 1); err != nil {
		return nil, err
	}
	var v tokens
	err = n.read(ctx, func(st ledger.State) error {
		a, err := st.Account(k)
		if err != nil {
			return err
		}
		if a.Lamports == 0 {
			return invalid("could not find account")
		}
		v, err = read(st, a)
		return err
	})
	return n.answer(v), err
}

func (n *node) tokenBalance(ctx context.Context, p jsonrpc.Params) (any, error) {
	return n.token(ctx, p, func(st ledger.State, a ledger.Account) (tokens, error) {
		t, ok := ledger.AsToken(a)
		if !ok {
			return tokens{}, invalid("not a Token account")
		}
		mint, err := st.Account(t.Mint)
		_, decimals, ok := ledger.AsMint(mint)
		if err != nil || !ok {
			return tokens{}, orElse(err, invalid("could not find mint"))
		}
		return tokenAmount(t.Amount, decimals), nil
	})
}

func (n *node) tokenSupply(ctx context.Context, p jsonrpc.Params) (any, error) {
	return n.token(ctx, p, func(_ ledger.State, a ledger.Account) (tokens, error) {
		supply, decimals, ok := ledger.AsMint(a)
		if !ok {
			return tokens{}, invalid("not a Token mint")
		}
		return tokenAmount(supply, decimals), nil
	})
}
