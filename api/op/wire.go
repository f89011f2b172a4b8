package op

import (
	"encoding/hex"
	"math/big"
	"strconv"
	"strings"

	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
)

// FromWire reads a user operation from its wire form. Numbers are decimal strings
// without signs or leading zeros (TH-L3), addresses all lower case or with a correct
// checksum (TH-L5), byte strings 0x and an even number of hexadecimal digits within
// the Max limits. Factory and paymaster members come all together or not at all
// (TH-U4, TH-U12). Whether the values are the right ones is not judged here.
func FromWire(w api.UserOp) (UserOp, error) {
	r := wireReader{}
	u := UserOp{
		Sender:               r.address("sender", w.Sender),
		Nonce:                r.number("nonce", w.Nonce, 256),
		CallData:             r.bytes("callData", w.CallData, MaxCallData),
		CallGasLimit:         r.number("callGasLimit", w.CallGasLimit, gasBits),
		VerificationGasLimit: r.number("verificationGasLimit", w.VerificationGasLimit, gasBits),
		PreVerificationGas:   r.number("preVerificationGas", w.PreVerificationGas, 256),
		MaxFeePerGas:         r.number("maxFeePerGas", w.MaxFeePerGas, gasBits),
		MaxPriorityFeePerGas: r.number("maxPriorityFeePerGas", w.MaxPriorityFeePerGas, gasBits),
		Signature:            r.bytes("signature", w.Signature, MaxSignature),
	}
	if r.together("U4", "factory", w.Factory, w.FactoryData) {
		factory := r.address("factory", w.Factory)
		u.Factory, u.FactoryData = &factory, r.bytes("factoryData", w.FactoryData, MaxFactoryData)
	}
	if r.together("U12", "paymaster", w.Paymaster, w.PaymasterVerificationGasLimit, w.PaymasterPostOpGasLimit,
		w.PaymasterData) {
		paymaster := r.address("paymaster", w.Paymaster)
		u.Paymaster, u.PaymasterData = &paymaster, r.bytes("paymasterData", w.PaymasterData, MaxPaymasterData)
		u.PaymasterVerificationGasLimit = r.number("paymasterVerificationGasLimit", w.PaymasterVerificationGasLimit,
			gasBits)
		u.PaymasterPostOpGasLimit = r.number("paymasterPostOpGasLimit", w.PaymasterPostOpGasLimit, gasBits)
	}
	if r.err != nil {
		return UserOp{}, r.err
	}
	return u, nil
}

// Wire writes the operation in wire form: decimal numbers, lower-case addresses and
// hex. It is meant for operations that FromWire or Pack accepted; a missing number is
// written as an empty string, which no reader accepts.
func (u UserOp) Wire() api.UserOp {
	w := api.UserOp{
		Sender:               lower(u.Sender),
		Nonce:                decimal(u.Nonce),
		CallData:             hex0x(u.CallData),
		CallGasLimit:         decimal(u.CallGasLimit),
		VerificationGasLimit: decimal(u.VerificationGasLimit),
		PreVerificationGas:   decimal(u.PreVerificationGas),
		MaxFeePerGas:         decimal(u.MaxFeePerGas),
		MaxPriorityFeePerGas: decimal(u.MaxPriorityFeePerGas),
		Signature:            hex0x(u.Signature),
	}
	if u.Factory != nil {
		w.Factory, w.FactoryData = lower(*u.Factory), hex0x(u.FactoryData)
	}
	if u.Paymaster != nil {
		w.Paymaster, w.PaymasterData = lower(*u.Paymaster), hex0x(u.PaymasterData)
		w.PaymasterVerificationGasLimit = decimal(u.PaymasterVerificationGasLimit)
		w.PaymasterPostOpGasLimit = decimal(u.PaymasterPostOpGasLimit)
	}
	return w
}

// wireReader reads members of a userOp and keeps the first failure.
type wireReader struct{ err error }

func (r *wireReader) fail(err error) {
	if r.err == nil {
		r.err = err // nil when a read succeeded
	}
}

// together reports whether the group is present; a group present in part is a failure.
func (r *wireReader) together(code, field string, members ...string) bool {
	present := 0
	for _, m := range members {
		if m != "" {
			present++
		}
	}
	if present != 0 && present != len(members) {
		r.fail(refuse(code, "userOp."+field, "all its members or none",
			strconv.Itoa(present)+" of "+strconv.Itoa(len(members))))
	}
	return present == len(members)
}

func (r *wireReader) number(field, s string, bits int) *big.Int {
	v, err := amount.ParseBase(s)
	if err != nil {
		r.fail(refuse("L3", "userOp."+field, "a decimal number below 2^256", quote(s)))
		return nil
	}
	if v.BitLen() > bits {
		r.fail(refuse("U11", "userOp."+field, "a number below 2^"+strconv.Itoa(bits), quote(s)))
	}
	return v
}

func (r *wireReader) address(field, s string) common.Address {
	a, err := parseAddress("userOp."+field, s)
	r.fail(err)
	return a
}

func (r *wireReader) bytes(field, s string, limit int) []byte {
	b, err := parseHex("userOp."+field, s, limit)
	r.fail(err)
	return b
}

// parseAddress applies TH-L5: all lower case, or a correct checksum.
func parseAddress(field, s string) (common.Address, error) {
	if err := caip.CheckEIP55(s); err != nil {
		return common.Address{}, refuse("L5", field, "an address in lower case or with a correct checksum", quote(s))
	}
	return common.HexToAddress(s), nil
}

// parseHex reads 0x and an even number of hexadecimal digits, at most limit bytes.
func parseHex(field, s string, limit int) ([]byte, error) {
	digits, ok := strings.CutPrefix(s, "0x")
	if ok && len(digits) > 2*limit {
		return nil, refuse("L1", field, "at most "+strconv.Itoa(limit)+" bytes", strconv.Itoa(len(digits)/2)+" bytes")
	}
	b, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return nil, refuse("L3", field, "0x and an even number of hexadecimal digits", quote(s))
	}
	return b, nil
}

// parseHex32 reads exactly 32 bytes.
func parseHex32(code, field, s string) ([32]byte, error) {
	b, err := parseHex(field, s, 32)
	if err != nil || len(b) != 32 {
		return [32]byte{}, refuse(code, field, "0x and 64 hexadecimal digits", quote(s))
	}
	return [32]byte(b), nil
}

func lower(a common.Address) string { return hex0x(a[:]) }

func hex0x(b []byte) string { return "0x" + hex.EncodeToString(b) }

func decimal(v *big.Int) string {
	if v == nil {
		return ""
	}
	return v.String()
}
