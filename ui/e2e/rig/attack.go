//go:build unix

package rig

import (
	"strings"

	"coffer/api"
)

// Attack is a change of one value of an answer: new is made of the old JSON text.
type Attack struct {
	Name, Pointer string
	Change        func(old string) string
}

// To makes any value the text.
func To(text string) func(string) string { return func(string) string { return text } }

// Nibble changes the last hexadecimal digit of a string.
func Nibble(old string) string {
	i := strings.LastIndexAny(old, "0123456789abcdefABCDEF")
	switch {
	case i <= 2: // only "0x
		return old
	case old[i] == '1':
		return old[:i] + "2" + old[i+1:]
	}
	return old[:i] + "1" + old[i+1:]
}

// Thief is the address of somebody else, as JSON.
const Thief = `"0x000000000000000000000000000000000000dEaD"`

// PreparedAttacks lie about the operation that is to be signed first.
func PreparedAttacks() []Attack {
	const u, td = "/chainOperation/userOp", "/chainOperation/typedDataToSign"
	return []Attack{
		{"another sender", u + "/sender", To(Thief)},
		{"another nonce", u + "/nonce", To(`"1"`)},
		{"other calls", u + "/callData", Nibble},
		{"no calls", u + "/callData", To(`"0x"`)},
		{"calls cut off", u + "/callData", func(old string) string { return old[:len(old)-65] + `"` }},
		{"a foreign paymaster", u + "/paymaster", To(Thief)},
		{"other data of the paymaster", u + "/paymasterData", To(`"0x00"`)},
		{"a signature already there", u + "/signature", To(`"0x01"`)},
		{"gas without bounds", u + "/callGasLimit", To(`"99999999999999"`)},
		{"verification gas without bounds", u + "/verificationGasLimit", To(`"99999999999999"`)},
		{"a fee beyond measure", u + "/maxFeePerGas", To(`"999999999999999999"`)},
		{"a foreign factory", u + "/factory", To(Thief)},
		{"other deployment data", u + "/factoryData", Nibble},
		{"another chain in the typed data", td + "/domain/chainId", To("1")},
		{"another contract in the typed data", td + "/domain/verifyingContract", To(Thief)},
		{"another name in the typed data", td + "/domain/name", To(`"Permit2"`)},
		{"another primary type", td + "/primaryType", To(`"Permit"`)},
		{"another message", td + "/message", To(`{"owner":` + Thief + `}`)},
		{"other types", td + "/types", To(`{"Permit":[{"name":"owner","type":"address"}]}`)},
		{"another asset", "/chainOperation/assetType", To(`"eip155:1/slip44:60"`)},
		{"another amount", "/chainOperation/amount", To(`"1"`)},
		{"another account", "/accounts/0/accountAddress", To(Thief)},
		{"another signer", "/accounts/0/signerAddress", To(Thief)},
		{"another kind of account", "/accounts/0/type", To(`"role-based"`)},
		{"no operation", "/chainOperation", To("null")},
		{"an operation twice", "/chainOperation/userOp", func(old string) string { return old + `,"userOp":` + old }},
		{"a list for an answer", "/chainOperation", To("[]")},
		{"a number for an address", u + "/sender", To("1")},
	}
}

// Splice makes the change in a JSON text. A text that is no longer JSON is what an attacker may send as well.
func Splice(answer []byte, a Attack) []byte {
	doc, err := api.ParseDocument(answer, api.DefaultLimits())
	if err != nil {
		return answer
	}
	old, ok := doc.At(a.Pointer)
	if !ok {
		return answer
	}
	new := a.Change(string(old))
	if d, err := doc.Splice(api.Edit{Pointer: a.Pointer, Value: []byte(new)}); err == nil {
		return d.Raw()
	}
	return []byte(strings.Replace(string(answer), string(old), new, 1))
}
