package api

import (
	"encoding/base64"
	"strings"

	"coffer/api/caip"
)

// signing says whether an operation must carry its signatures.
type signing bool

const (
	unsigned signing = false
	signed   signing = true
)

// maxSafe is 2^53-1, the largest integer that every JSON reader keeps (TH-D4).
const maxSafe = 1<<53 - 1

// operation checks a chain operation of either kind.
func (r Rules) operation(p place, s signing) {
	if !p.object() {
		return
	}
	switch kind, _ := p.get("type").text(); {
	case kind == AccountSolana:
		r.solanaOperation(p, s)
	case !p.get("type").present() && !p.get("userOp").present() && p.get("dataToSign").present():
		p.get("type").fail("solana, as there is dataToSign and no userOp")
		r.solanaOperation(p, s)
	default:
		r.evmOperation(p, s)
	}
	p.get("assetType").str("a CAIP-19 asset type",
		func(s string) bool { _, err := caip.ParseAsset(s); return err == nil })
	p.get("amount").str("an amount in base units", isAmount)
}

// solanaOperation checks a message: dataToSign is base64 in its one spelling, signature base58 of 64 bytes.
func (r Rules) solanaOperation(p place, s signing) {
	p.get("dataToSign").str("a message in base64", isBase64)
	if s == signed {
		p.get("signature").str("a signature: base58 of 64 bytes", isSolanaSignature)
	}
	for _, in := range p.get("instructions").list("instructions", 1, MaxListed) {
		if !in.object() {
			continue
		}
		in.get("programId").str("a base58 Solana address", isSolanaKey)
		in.get("data").str("hex digits without 0x", reHexDigits.MatchString)
		for _, k := range in.get("keys").list("keys", 0, 256) {
			if k.object() {
				k.get("pubkey").str("a base58 Solana address", isSolanaKey)
				k.get("isSigner").boolean()
				k.get("isWritable").boolean()
			}
		}
	}
	p.get("recentBlockHash").str("a base58 block hash", isSolanaKey)
	p.get("feePayer").str("a base58 Solana address", isSolanaKey)
	for _, table := range p.get("addressLookupTableAddresses").optionalList("lookup tables", 256) {
		table.str("a base58 Solana address", isSolanaKey)
	}
}

// evmOperation checks a user operation, its typed data and its delegation.
func (r Rules) evmOperation(p place, s signing) {
	if t := p.get("type"); t.present() {
		t.fail("solana, or no type for an EVM operation")
	}
	if op := p.get("userOp"); op.object() {
		userOp(op, s)
	}
	typedData(p.get("typedDataToSign"))
	if d := p.get("delegation"); d.present() {
		delegation(d, s)
	}
}

func userOp(op place, s signing) {
	op.get("sender").str("a 0x address", isAddress)
	op.get("callData").str(wantHex, isHexBytes)
	for _, name := range []string{"nonce", "callGasLimit", "verificationGasLimit", "preVerificationGas", "maxFeePerGas",
		"maxPriorityFeePerGas"} {
		op.get(name).str("a decimal string", isAmount)
	}
	for _, name := range []string{"factory", "paymaster"} {
		op.get(name).optional("a 0x address", isAddress)
	}
	for _, name := range []string{"factoryData", "paymasterData"} {
		op.get(name).optional(wantHex, isHexBytes)
	}
	for _, name := range []string{"paymasterVerificationGasLimit", "paymasterPostOpGasLimit"} {
		op.get(name).optional("a decimal string", isAmount)
	}
	if s == signed {
		op.get("signature").str("a signature: 0x and hex digits", isSignature)
	} else {
		op.get("signature").str(wantHex, isHexBytes)
	}
}

func typedData(p place) {
	if !p.object() {
		return
	}
	if d := p.get("domain"); d.object() {
		for _, name := range []string{"name", "version"} {
			d.get(name).str("a string", anything)
		}
		d.get("chainId").integer(1, maxSafe)
		d.get("verifyingContract").str("a 0x address", isAddress)
	}
	if types := p.get("types"); types.object() {
		for _, t := range types.entries() {
			structType(t)
		}
	}
	p.get("primaryType").str("Approve", oneOf("Approve"))
	if m := p.get("message"); m.object() {
		m.get("callDataAndNonceHash").str("a 32-byte hash as 0x hex", reWord.MatchString)
	}
}

// structType checks the members of one struct type of typed data.
func structType(p place) {
	for _, field := range p.list("members", 0, 256) {
		if field.object() {
			field.get("name").str("a string", anything)
			field.get("type").str("a string", anything)
		}
	}
}

// delegation checks an EIP-7702 delegation; signed demands the authorization (protocol §8.3).
func delegation(p place, s signing) {
	if !p.object() {
		return
	}
	contract, okC := p.get("contractAddress").str("a 0x address", isAddress)
	nonce, okN := p.get("nonce").integer(0, maxSafe)
	sig := p.get("signature")
	if s == unsigned && !sig.present() {
		return
	}
	if !sig.present() {
		sig.fail("the signed authorization of this delegation")
		return
	}
	if !sig.object() {
		return
	}
	c, ok := sig.get("contractAddress").str("a 0x address", isAddress)
	if ok && okC && !strings.EqualFold(c, contract) {
		sig.get("contractAddress").fail("the contract of the delegation")
	}
	if n, ok := authorized(sig); ok && okN && n != nonce {
		sig.get("nonce").fail("the nonce of the delegation")
	}
}

// authorized checks a signed authorization, but for its contract, and returns its nonce.
func authorized(sig place) (nonce int, ok bool) {
	sig.get("chainId").integer(1, maxSafe)
	nonce, ok = sig.get("nonce").integer(0, maxSafe)
	sig.get("r").str("32 bytes as 0x hex", reWord.MatchString)
	sig.get("s").str("32 bytes as 0x hex", reWord.MatchString)
	parity, okP := sig.get("yParity").integer(0, 1)
	if v, ok := sig.get("v").str("0x1b or 0x1c", oneOf("0x1b", "0x1c")); ok &&
		okP && (v == "0x1c") != (parity == 1) {
		sig.get("v").fail("0x1b with yParity 0, 0x1c with yParity 1")
	}
	sig.get("type").str("Signed", oneOf("Signed"))
	return nonce, ok
}

const wantHex = "a hex string that starts with 0x"

func anything(string) bool      { return true }
func isSignature(s string) bool { return isHexBytes(s) && len(s) > 2 }
func isSolanaKey(s string) bool { _, err := caip.ParseSolanaKey(s); return err == nil }

func isSolanaSignature(s string) bool {
	_, err := caip.ParseSolanaSignature(s)
	return err == nil
}

// isBase64 accepts standard base64 with padding in its one spelling: no line breaks, no stray bits.
func isBase64(s string) bool {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	return err == nil && len(b) > 0 && base64.StdEncoding.EncodeToString(b) == s
}
