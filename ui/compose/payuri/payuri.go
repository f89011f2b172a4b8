// Package payuri reads and writes payment requests as wallets pass them around: EIP-681 (ethereum:…) for a plain
// payment in a chain's coin or the transfer of an ERC-20 token, and Solana Pay transfer requests (solana:…).
//
// Promise: a request is read exactly or refused. An amount is an exact number, never rounded; a parameter that this
// package does not know, or that is there twice, is refused by its name; an address has a correct checksum, and names
// of a registry are none. What a request asks for and nothing here can keep, such as a memo, is listed. Nothing is
// fetched. What is written is read back as the same request.
//
// Errors say what is wrong in words. Sources: EIP-681; Solana Pay specification.
package payuri

import (
	"errors"
	"fmt"
	"math/big"
	"net/url"
	"strconv"
	"strings"

	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/text"
)

// MaxLength bounds a request in characters.
const MaxLength = 2048

// Request is a payment. Solana: To and Token are base58, and Amount is in whole tokens; otherwise To and Token are in
// checksum form, Amount is in base units, and Chain is the EVM chain. Token is "" for the coin, Amount "" when the
// payer chooses. Lost are the parameters that ask for something that a payment of this wallet does not carry.
type Request struct {
	Solana            bool
	Chain             uint64
	To, Token, Amount string
	Lost              []string
}

// String writes a request: the parameters that were lost are left out.
func (r Request) String() string {
	if r.Solana {
		return "solana:" + r.To + listed([][2]string{{"amount", r.Amount}, {"spl-token", r.Token}})
	}
	at := "@" + strconv.FormatUint(r.Chain, 10)
	if r.Token == "" {
		return "ethereum:" + r.To + at + listed([][2]string{{"value", r.Amount}})
	}
	return "ethereum:" + r.Token + at + "/transfer" + listed([][2]string{{"address", r.To}, {"uint256", r.Amount}})
}

// listed writes parameters, names with values; those without a value are left out. A value needs no escapes.
func listed(pairs [][2]string) string {
	var all []string
	for _, p := range pairs {
		if p[1] != "" {
			all = append(all, p[0]+"="+p[1])
		}
	}
	if len(all) == 0 {
		return ""
	}
	return "?" + strings.Join(all, "&")
}

// Is reports whether a text means to be a payment request.
func Is(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(s, "ethereum:") || strings.HasPrefix(s, "solana:") && !strings.Contains(s[7:], ":")
}

// Parse reads a request.
func Parse(s string) (Request, error) {
	s = strings.TrimSpace(s)
	if len(s) > MaxLength {
		return Request{}, fmt.Errorf("the payment request has more than %d characters", MaxLength)
	}
	scheme, rest, _ := strings.Cut(s, ":")
	path, query, _ := strings.Cut(rest, "?")
	given, err := parameters(query)
	if err != nil {
		return Request{}, err
	}
	switch strings.ToLower(scheme) {
	case "ethereum":
		return given.ethereum(path)
	case "solana":
		return given.solana(path)
	}
	return Request{}, errors.New("ethereum: or solana: begins a payment request")
}

// params are the parameters of a request that were not used yet.
type params map[string][]string

func parameters(query string) (params, error) {
	out := params{}
	for part := range strings.SplitSeq(query, "&") {
		if part == "" {
			continue
		}
		name, value, _ := strings.Cut(part, "=")
		value, err := url.PathUnescape(value)
		if err != nil {
			return nil, fmt.Errorf("the value of %s is not written as in an address", text.Named(name))
		}
		out[name] = append(out[name], value)
	}
	return out, nil
}

// take returns a parameter that is there once at most.
func (p params) take(name string) (string, error) {
	all := p[name]
	delete(p, name)
	switch len(all) {
	case 0:
		return "", nil
	case 1:
		return all[0], nil
	}
	return "", fmt.Errorf("the payment request has %s twice", name)
}

// lose takes parameters that cannot be kept, and lists those that are there.
func (p params) lose(names ...string) (lost []string) {
	for _, name := range names {
		if _, there := p[name]; there {
			lost = append(lost, name)
		}
		delete(p, name)
	}
	return lost
}

// rest refuses what is left over.
func (p params) rest() error {
	unknown := ""
	for name := range p {
		if unknown == "" || name < unknown {
			unknown = name
		}
	}
	if len(p) > 0 {
		return fmt.Errorf("the payment request asks for %s, which is not known here", text.Named(unknown))
	}
	return nil
}

func (p params) ethereum(path string) (r Request, err error) {
	target, function, called := strings.Cut(strings.TrimPrefix(path, "pay-"), "/")
	target, chain, named := strings.Cut(target, "@")
	if r.Chain, err = strconv.ParseUint(chain, 10, 63); !named || err != nil || r.Chain == 0 || chain[0] == '0' {
		return r, errors.New("the payment request names no chain, such as @8453 behind the address")
	}
	if r.To, err = evm(target); err != nil {
		return r, err
	}
	how := "value"
	switch {
	case called && function != "transfer":
		return r, fmt.Errorf("the payment request calls %s, which is no payment", text.Named(function))
	case called:
		how = "uint256"
		to, err := p.take("address")
		if err != nil {
			return r, err
		}
		r.Token = r.To
		if r.To, err = evm(to); err != nil {
			return r, err
		}
		if _, both := p["value"]; both {
			return r, errors.New("the payment request pays a token and sends coins to its contract")
		}
	}
	figure, err := p.take(how)
	if err != nil {
		return r, err
	}
	if figure != "" {
		if r.Amount, err = whole(figure); err != nil {
			return r, err
		}
	}
	r.Lost = p.lose("gas", "gasLimit", "gasPrice")
	return r, p.rest()
}

// evm reads an EVM address and writes it in checksum form.
func evm(s string) (string, error) {
	a, err := caip.ParseAddress(s)
	switch {
	case err != nil:
		return "", fmt.Errorf("%s is not an address: the payment request needs one in full", text.Named(s))
	case caip.CheckEIP55(s) != nil:
		return "",
			errors.New("the checksum of an address in the payment request is wrong: a letter or digit has changed")
	case a == [20]byte{}:
		return "", errors.New("the payment request pays the zero address: what goes there is lost")
	}
	return a.Hex(), nil
}

// whole reads a number of EIP-681, such as 2.014e18, which has to be a whole one.
func whole(s string) (string, error) {
	wrong := fmt.Errorf("%s is not a whole number of base units", text.Named(s))
	figure, exponent, scaled := strings.Cut(strings.ToLower(s), "e")
	decimals := uint64(0)
	if scaled {
		var err error
		if decimals, err = strconv.ParseUint(exponent, 10, 8); err != nil || decimals > amount.MaxDecimals {
			return "", wrong
		}
	}
	v, err := amount.Parse(figure, int(decimals))
	if err != nil {
		return "", wrong
	}
	return v.String(), nil
}

func (p params) solana(path string) (r Request, err error) {
	if strings.Contains(path, "/") || strings.Contains(path, "%") {
		return r, errors.New("that is a request to sign what a web site sends; only a transfer is taken")
	}
	r = Request{Solana: true, To: path}
	if _, err = caip.ParseSolanaKey(r.To); err != nil {
		return r, fmt.Errorf("%s is not a Solana address", text.Named(r.To))
	}
	if r.Token, err = p.take("spl-token"); err != nil {
		return r, err
	}
	if _, err = caip.ParseSolanaKey(r.Token); err != nil && r.Token != "" {
		return r, fmt.Errorf("%s is not the address of a token", text.Named(r.Token))
	}
	if r.Amount, err = p.take("amount"); err != nil {
		return r, err
	}
	if r.Amount != "" {
		v, ok := new(big.Rat).SetString(r.Amount)
		if strings.Trim(r.Amount, "0123456789.") != "" || strings.HasPrefix(r.Amount, ".") ||
			strings.HasSuffix(r.Amount, ".") || !ok || v.Sign() < 0 || len(r.Amount) > 80 {
			return r, fmt.Errorf("%s is not an amount", text.Named(r.Amount))
		}
	}
	r.Lost = p.lose("reference", "memo", "label", "message")
	return r, p.rest()
}
