package abicall

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"
)

// DecodeRevert puts the return data of a reverted call into words: the text of
// Error(string), the meaning of Panic(uint256), one of the given custom errors or of
// KnownErrors, otherwise the selector. The result is one line of visible characters,
// shortened; the contract chose the words in it, so show it as a quotation.
func DecodeRevert(data []byte, errors ...Function) string {
	return decodeRevert(data, errors, true)
}

// decodeRevert looks into an error that carries another one only where nested allows
// it, so that the work stays linear.
func decodeRevert(data []byte, errors []Function, nested bool) string {
	if len(data) == 0 {
		return "reverted without a reason"
	}
	if len(data) < 4 {
		return "reverted with 0x" + hex.EncodeToString(data)
	}
	selector := [4]byte(data[:4])
	if text, ok := standardReason(selector, data); ok {
		return text
	}
	for _, list := range [][]Function{errors, KnownErrors()} {
		if f, ok := Lookup(list, selector); ok {
			if values, err := f.Decode(data); err == nil {
				return customReason(f, values, errors, nested)
			}
		}
	}
	return "unknown error 0x" + hex.EncodeToString(selector[:]) + " with " + strconv.Itoa(len(data)-4) + " bytes"
}

// customReason formats a decoded custom error. The entry point's FailedOpWithRevert
// carries the revert data of an inner call, which says more than its bytes.
func customReason(f Function, values []Value, errors []Function, nested bool) string {
	if nested && f.Signature() == "FailedOpWithRevert(uint256,string,bytes)" {
		if inner, err := hex.DecodeString(strings.TrimPrefix(values[2].Text, "0x")); err == nil {
			return shorten(values[1].Text) + ": " + decodeRevert(inner, errors, false)
		}
	}
	return shorten(f.Format(values))
}

func standardReason(selector [4]byte, data []byte) (string, bool) {
	reason := must("Error(string reason)")
	panicked := must("Panic(uint256 code)")
	switch selector {
	case reason.Selector():
		if values, err := reason.Decode(data); err == nil {
			if values[0].Text == "" {
				return "reverted without a reason", true
			}
			return shorten(values[0].Text), true
		}
	case panicked.Selector():
		if values, err := panicked.Decode(data); err == nil {
			code, _ := new(big.Int).SetString(values[0].Text, 10)
			return panicReason(code), true
		}
	}
	return "", false
}

// panicReason follows the Solidity documentation, "Panic via assert and Error via
// require".
func panicReason(code *big.Int) string {
	meaning := map[uint64]string{
		0x00: "compiler panic", 0x01: "assertion failed", 0x11: "arithmetic overflow or underflow",
		0x12: "division by zero",
		0x21: "value outside an enum", 0x22: "broken storage byte array", 0x31: "pop from an empty array",
		0x32: "array index out of range",
		0x41: "out of memory", 0x51: "call of an empty function variable",
	}
	text := "panic 0x" + code.Text(16)
	if code.IsUint64() && meaning[code.Uint64()] != "" {
		return meaning[code.Uint64()] + " (" + text + ")"
	}
	return text
}
