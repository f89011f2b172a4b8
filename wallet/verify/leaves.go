package verify

import (
	"slices"
	"strings"

	"coffer/api"
	"coffer/api/pattern"
)

// Class says what protects a leaf of an answer against change (docs/threats.md).
type Class string

// The classes: Bound leaves must equal a value computed here, Bounded ones must lie inside a limit, Opaque ones are
// carried and harmless, Display ones are only ever shown.
const (
	Bound   Class = "bound"
	Bounded Class = "bounded"
	Opaque  Class = "opaque"
	Display Class = "display"
)

// form is the JSON form of a leaf.
type form byte

const (
	formString form = iota
	formInteger
	formNumber
	formBool
	formEmpty // an empty object or array
)

// Leaf is one row of the class table. Pattern is a JSON pointer in which "*" stands for an array index or a member
// name; Code is the row of docs/threats.md that guards it.
type Leaf struct {
	Pattern string
	Class   Class
	Code    string
	form    form
}

// operationLeaves lists the leaves of one EVM operation below prefix. assetCode is the row that guards what the
// operation says it moves.
func operationLeaves(prefix, assetCode string) []Leaf {
	rows := []Leaf{
		{"/userOp/sender", Bound, "U1", formString}, {"/userOp/nonce", Bounded, "U2", formString},
		{"/userOp/factory", Bound, "U4", formString}, {"/userOp/factoryData", Bound, "U4", formString},
		{"/userOp/callData", Bound, "U7", formString},
		{"/userOp/callGasLimit", Bounded, "U11", formString},
		{"/userOp/verificationGasLimit", Bounded, "U11", formString},
		{"/userOp/preVerificationGas", Bound, "U11", formString}, {"/userOp/maxFeePerGas", Bound, "U11", formString},
		{"/userOp/maxPriorityFeePerGas", Bound, "U11", formString},
		{"/userOp/paymaster", Bound, "U12", formString}, {"/userOp/paymasterData", Bounded, "U12", formString},
		{"/userOp/paymasterVerificationGasLimit", Bounded, "U11", formString},
		{"/userOp/paymasterPostOpGasLimit", Bounded, "U11", formString},
		{"/userOp/signature", Bound, "U13", formString},
		{"/typedDataToSign/domain/name", Bound, "T1", formString},
		{"/typedDataToSign/domain/version", Bound, "T1", formString},
		{"/typedDataToSign/domain/chainId", Bound, "T2", formInteger},
		{"/typedDataToSign/domain/verifyingContract", Bound, "T3", formString},
		{"/typedDataToSign/types/Approve/*/name", Bound, "T5", formString},
		{"/typedDataToSign/types/Approve/*/type", Bound, "T5", formString},
		{"/typedDataToSign/types/EIP712Domain/*/name", Bound, "T5", formString},
		{"/typedDataToSign/types/EIP712Domain/*/type", Bound, "T5", formString},
		{"/typedDataToSign/primaryType", Bound, "T6", formString},
		{"/typedDataToSign/message/callDataAndNonceHash", Bound, "T7", formString},
		{"/delegation/contractAddress", Bound, "D2", formString}, {"/delegation/nonce", Bounded, "D4", formInteger},
		{"/assetType", Bound, assetCode, formString}, {"/amount", Bound, assetCode, formString},
	}
	for i := range rows {
		rows[i].Pattern = prefix + rows[i].Pattern
	}
	return rows
}

// solanaLeaves lists the leaves of one Solana operation below prefix, without those that an EVM one has, too.
func solanaLeaves(prefix string) []Leaf {
	rows := []Leaf{
		{"/type", Bound, "P2", formString}, {"/recentBlockHash", Bound, "S4", formString},
		{"/feePayer", Bound, "S3", formString},
		{"/dataToSign", Bound, "S1", formString}, {"/addressLookupTableAddresses", Opaque, "S12", formEmpty},
		{"/addressLookupTableAddresses/*", Bound, "S12", formString},
		{"/instructions/*/programId", Bound, "S5", formString}, {"/instructions/*/data", Bound, "S5", formString},
		{"/instructions/*/keys", Bound, "S5", formEmpty}, {"/instructions/*/keys/*/pubkey", Bound, "S5", formString},
		{"/instructions/*/keys/*/isSigner", Bound, "S5", formBool},
		{"/instructions/*/keys/*/isWritable", Bound, "S5", formBool},
	}
	for i := range rows {
		rows[i].Pattern = prefix + rows[i].Pattern
	}
	return rows
}

func accountLeaves(code string, v1 bool) []Leaf {
	var rows []Leaf
	prefix := "/accounts/*/"
	if v1 {
		prefix = "/account/"
	}
	for _, name := range []string{"type", "accountAddress", "signerAddress", "sessionAddress", "adminAddress",
		"deploymentType"} {
		rows = append(rows, Leaf{prefix + name, Bound, code, formString})
	}
	return rows
}

func preparedTable(v1 bool) []Leaf {
	rows := append(accountLeaves("P1", v1), operationLeaves("/chainOperation", "P7")...)
	return append(rows,
		Leaf{"/tamperProofSignature", Opaque, "P3", formString},
		Leaf{"/callType", Bounded, "P4", formString},
		Leaf{"/sourceAssetBalances", Display, "P6", formEmpty},
		Leaf{"/sourceAssetBalances/*/assetType", Display, "P5", formString},
		Leaf{"/sourceAssetBalances/*/decimals", Bound, "P5", formInteger},
		Leaf{"/sourceAssetBalances/*/balance", Display, "P6", formString},
		Leaf{"/sourceAssetBalances/*/fiatValue", Display, "P6", formNumber},
	)
}

func quoteTable(v1 bool) []Leaf {
	rows := append(accountLeaves("Q2", v1), operationLeaves("/originChainsOperations/*", "Q5")...)
	if !v1 {
		rows = append(rows, solanaLeaves("/originChainsOperations/*")...)
	}
	rows = append(rows,
		Leaf{"/id", Bound, "Q1", formString},
		Leaf{"/expirationTimestamp", Bounded, "Q10", formString},
		Leaf{"/tamperProofSignature", Opaque, "P3", formString},
		Leaf{"/originToken/aggregatedAssetId", Bound, "Q6", formString},
		Leaf{"/originToken/assetType/*", Bound, "Q6", formString},
		Leaf{"/originToken/amount", Bound, "Q5", formString},
		Leaf{"/originToken/fiatValue", Display, "Q12", formEmpty},
		Leaf{"/originToken/assetType", Bound, "Q6", formEmpty},
		Leaf{"/originToken/fiatValue/*/assetType", Display, "Q12", formString},
		Leaf{"/originToken/fiatValue/*/amount", Display, "Q12", formString},
		Leaf{"/originToken/fiatValue/*/fiatValue", Display, "Q12", formString},
	)
	if v1 {
		rows = append(rows, repeated("/destinationChainOperation", "Q13")...)
	} else {
		rows = append(rows, costLeaves()...)
	}
	for name, l := range map[string]Leaf{
		"aggregatedAssetId": {Class: Bound, Code: "Q7"}, "assetType": {Class: Bound, Code: "Q7"},
		"amount":        {Class: Bound, Code: "Q8"},
		"minimumAmount": {Class: Bound, Code: "Q8"}, "decimals": {Class: Bound, Code: "Q7", form: formInteger},
		"symbol": {Class: Bound, Code: "Q7"},
		"name":   {Class: Display, Code: "Q7"}, "fiatValue": {Class: Display, Code: "Q12"},
		"minimumFiatValue": {Class: Display, Code: "Q12"},
		"recipientAccount": {Class: Bound, Code: "Q9"},
	} {
		l.Pattern = "/destinationToken/" + name
		rows = append(rows, l)
	}
	return rows
}

// repeated are the leaves of an operation that repeats the prepared one byte for byte.
func repeated(prefix, code string) []Leaf {
	rows := operationLeaves(prefix, code)
	for i := range rows {
		if rows[i].Class = Bound; rows[i].Code != "U13" { // that it arrives unsigned has a row of its own
			rows[i].Code = code
		}
	}
	return rows
}

// costLeaves are the leaves of fees and tolerances, which quotes of v1 do not have.
func costLeaves() []Leaf {
	rows := []Leaf{
		{"/fees/assets", Display, "Q11", formEmpty}, {"/fees/assets/*", Bounded, "Q11", formString},
		{"/fees/cumulativeUSD", Display, "Q12", formString},
	}
	for _, side := range []string{"origin", "destination"} {
		rows = append(rows,
			Leaf{"/slippage/" + side + "/percent", Bounded, "Q11", formString},
			Leaf{"/slippage/" + side + "/usd", Display, "Q12", formString},
			Leaf{"/slippage/" + side + "/value", Display, "Q12", formString},
		)
	}
	return rows
}

// leafTree is a class table by the parts of its patterns, so that a document of many leaves costs no more than its
// length (TH-F16).
type leafTree struct {
	parts map[string]*leafTree
	any   *leafTree
	row   *Leaf
}

func newLeafTree(table []Leaf) *leafTree {
	root := &leafTree{}
	for i := range table {
		at := root
		for rest := table[i].Pattern; rest != ""; {
			part := head(rest)
			rest = rest[len(part):]
			at = at.child(part)
		}
		if at.row == nil {
			at.row = &table[i]
		}
	}
	return root
}

func (t *leafTree) child(part string) *leafTree {
	if part == "/*" {
		if t.any == nil {
			t.any = &leafTree{}
		}
		return t.any
	}
	if t.parts[part] == nil {
		if t.parts == nil {
			t.parts = map[string]*leafTree{}
		}
		t.parts[part] = &leafTree{}
	}
	return t.parts[part]
}

func (t *leafTree) find(pointer string) (Leaf, bool) {
	if pointer == "" {
		if t.row == nil {
			return Leaf{}, false
		}
		return *t.row, true
	}
	part := head(pointer)
	if next := t.parts[part]; next != nil {
		if l, ok := next.find(pointer[len(part):]); ok {
			return l, true
		}
	}
	if t.any == nil {
		return Leaf{}, false
	}
	return t.any.find(pointer[len(part):])
}

// head is the first part of a pointer with its slash.
func head(s string) string {
	if i := strings.IndexByte(s[1:], '/'); i >= 0 {
		return s[:i+1]
	}
	return s
}

var reInteger = pattern.New(`^(0|[1-9][0-9]{0,18})$`)

// maxNumber bounds the digits of a number that is only shown; longer ones cost more to read than they can say.
const maxNumber = 64

func (l Leaf) accepts(raw []byte) bool {
	switch l.form {
	case formString:
		return raw[0] == '"' && (len(raw) > 2 || l.Class == Display) // an unknown worth is an empty text
	case formInteger:
		return reInteger.Regexp().Match(raw)
	case formBool:
		return string(raw) == "true" || string(raw) == "false"
	case formNumber:
		if string(raw) == "null" {
			return l.Class == Display // an unknown worth
		}
		if len(raw) > maxNumber || raw[0] == '-' {
			return false
		}
		_, ok := api.Number(raw).Micro()
		return ok
	}
	return string(raw) == "{}" || string(raw) == "[]"
}

// reOperationSignature finds the place of a Solana operation's signature; that of a user operation stands inside it.
var reOperationSignature = pattern.New(`^/originChainsOperations/[0-9]+/signature(/|$)`)

// lexical passes every leaf through the class table: a known leaf must have its JSON form and must not be empty (L3);
// an unknown one is refused inside an operation (L4) and counted elsewhere. strict holds the prefixes of the
// operations. A signature must be the plain text "0x", as only those bytes are restored when a body is compared with
// what was reviewed (U13, X1).
func (j *judge) lexical(doc *api.Document, table []Leaf, strict ...string) {
	unknown := 0
	tree := newLeafTree(table)
	doc.Leaves(func(pointer string, raw []byte) {
		if j.full() {
			return
		}
		l, ok := tree.find(pointer)
		inside := slices.ContainsFunc(strict, func(prefix string) bool { return strings.HasPrefix(pointer, prefix) })
		switch {
		case ok && l.Code == "U13" && string(raw) != `"0x"`:
			j.add(Refuse, "U13", failed("the operation arrives unsigned"), pointer, "0x", "something else")
		case !ok && inside && strings.Contains(pointer, "/delegation/signature"):
			j.add(Refuse, "D5", failed("the delegation arrives unsigned"), pointer, "no signature", "a signature")
		case !ok && reOperationSignature.MatchString(pointer):
			j.add(Refuse, "S13", failed("the message arrives unsigned"), pointer, "no signature", "a signature")
		case !ok && inside:
			j.add(Refuse, "L4", "The operation carries a member that this wallet does not know.", pointer,
				"known members only", string(raw))
		case !ok:
			unknown++
		case !l.accepts(raw):
			j.add(Refuse, "L3", "A value does not have its plain JSON form.", pointer, l.form.String(), string(raw))
		}
	})
	if unknown > 0 {
		j.add(Show, "L4", "The answer has fields that this wallet does not use.", "", "", plural(unknown, "value"))
	}
	if !j.refused() {
		j.pass("L3", "every value has its plain JSON form")
		j.pass("L4", "no unknown member inside an operation")
	}
}

// String names a form for a reason.
func (f form) String() string {
	switch f {
	case formString:
		return "a string with content"
	case formInteger:
		return "a whole number in plain digits"
	case formBool:
		return "true or false"
	case formNumber:
		return "a plain number, not negative"
	}
	return "an empty list"
}
