package verify

import (
	"regexp"
	"strings"

	"coffer/api"
)

// Class says what protects a leaf of an answer against change (threats part 0.6).
type Class string

// The classes: Bound leaves must equal a value computed here, Bounded ones must lie inside a limit, Opaque ones are carried and harmless, Display ones are
// only ever shown.
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
	formEmpty // an empty object or array
)

// Leaf is one row of the class table. Pattern is a JSON pointer in which "*" stands for an array index or a member name; Code is the row of the threat
// table that guards it.
type Leaf struct {
	Pattern string
	Class   Class
	Code    string
	form    form
}

// operationLeaves lists the leaves of one EVM operation below prefix. assetCode is the row that guards what the operation says it moves.
func operationLeaves(prefix, assetCode string) []Leaf {
	rows := []Leaf{
		{"/userOp/sender", Bound, "U1", formString}, {"/userOp/nonce", Bounded, "U2", formString},
		{"/userOp/factory", Bound, "U4", formString}, {"/userOp/factoryData", Bound, "U4", formString},
		{"/userOp/callData", Bound, "U7", formString},
		{"/userOp/callGasLimit", Bounded, "U11", formString}, {"/userOp/verificationGasLimit", Bounded, "U11", formString},
		{"/userOp/preVerificationGas", Bound, "U11", formString}, {"/userOp/maxFeePerGas", Bound, "U11", formString},
		{"/userOp/maxPriorityFeePerGas", Bound, "U11", formString},
		{"/userOp/paymaster", Bound, "U12", formString}, {"/userOp/paymasterData", Bounded, "U12", formString},
		{"/userOp/paymasterVerificationGasLimit", Bounded, "U11", formString}, {"/userOp/paymasterPostOpGasLimit", Bounded, "U11", formString},
		{"/userOp/signature", Bound, "U13", formString},
		{"/typedDataToSign/domain/name", Bound, "T1", formString}, {"/typedDataToSign/domain/version", Bound, "T1", formString},
		{"/typedDataToSign/domain/chainId", Bound, "T2", formInteger}, {"/typedDataToSign/domain/verifyingContract", Bound, "T3", formString},
		{"/typedDataToSign/types/Approve/*/name", Bound, "T5", formString}, {"/typedDataToSign/types/Approve/*/type", Bound, "T5", formString},
		{"/typedDataToSign/types/EIP712Domain/*/name", Bound, "T5", formString}, {"/typedDataToSign/types/EIP712Domain/*/type", Bound, "T5", formString},
		{"/typedDataToSign/primaryType", Bound, "T6", formString}, {"/typedDataToSign/message/callDataAndNonceHash", Bound, "T7", formString},
		{"/assetType", Bound, assetCode, formString}, {"/amount", Bound, assetCode, formString},
	}
	for i := range rows {
		rows[i].Pattern = prefix + rows[i].Pattern
	}
	return rows
}

func accountLeaves(code string) []Leaf {
	var rows []Leaf
	for _, name := range []string{"type", "accountAddress", "signerAddress", "sessionAddress", "adminAddress", "deploymentType"} {
		rows = append(rows, Leaf{"/accounts/*/" + name, Bound, code, formString})
	}
	return rows
}

// PreparedLeaves is the class table of an answer of prepare-call-quote (v3).
func PreparedLeaves() []Leaf {
	rows := append(accountLeaves("P1"), operationLeaves("/chainOperation", "P7")...)
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

// QuoteLeaves is the class table of an answer of call-quote (v3).
func QuoteLeaves() []Leaf {
	rows := append(accountLeaves("Q2"), operationLeaves("/originChainsOperations/*", "Q5")...)
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
		Leaf{"/fees/assets", Display, "Q11", formEmpty},
		Leaf{"/fees/assets/*", Bounded, "Q11", formString},
		Leaf{"/fees/cumulativeUSD", Display, "Q12", formString},
	)
	for name, l := range map[string]Leaf{
		"aggregatedAssetId": {Class: Bound, Code: "Q7"}, "assetType": {Class: Bound, Code: "Q7"}, "amount": {Class: Bound, Code: "Q8"},
		"minimumAmount": {Class: Bound, Code: "Q8"}, "decimals": {Class: Bound, Code: "Q7", form: formInteger}, "symbol": {Class: Bound, Code: "Q7"},
		"name": {Class: Display, Code: "Q7"}, "fiatValue": {Class: Display, Code: "Q12"}, "minimumFiatValue": {Class: Display, Code: "Q12"},
		"recipientAccount": {Class: Bound, Code: "Q9"},
	} {
		l.Pattern = "/destinationToken/" + name
		rows = append(rows, l)
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

// FindLeaf returns the row of the table that a pointer falls under; of several the first.
func FindLeaf(table []Leaf, pointer string) (Leaf, bool) { return newLeafTree(table).find(pointer) }

// leafTree is a class table by the parts of its patterns, so that a document of many leaves costs no more than its length (TH-F16).
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

var reInteger = regexp.MustCompile(`^(0|[1-9][0-9]{0,18})$`)

// maxNumber bounds the digits of a number that is only shown; longer ones cost more to read than they can say.
const maxNumber = 64

func (l Leaf) accepts(raw []byte) bool {
	switch l.form {
	case formString:
		return raw[0] == '"' && (len(raw) > 2 || l.Class == Display) // an unknown worth is an empty text
	case formInteger:
		return reInteger.Match(raw)
	case formNumber:
		if len(raw) > maxNumber || raw[0] == '-' {
			return false
		}
		_, ok := api.Number(raw).Micro()
		return ok
	}
	return string(raw) == "{}" || string(raw) == "[]"
}

// lexical passes every leaf through the class table: a known leaf must have its JSON form and must not be empty (L3); an unknown one is refused inside an
// operation (L4) and counted elsewhere. strict is the prefix of the operations. A signature must be the plain text "0x", as only those bytes are restored
// when a body is compared with what was reviewed (U13, X1).
func (j *judge) lexical(doc *api.Document, table []Leaf, strict string) {
	unknown := 0
	tree := newLeafTree(table)
	doc.Leaves(func(pointer string, raw []byte) {
		if j.full() {
			return
		}
		l, ok := tree.find(pointer)
		switch {
		case ok && l.Code == "U13" && string(raw) != `"0x"`:
			j.add(Refuse, "U13", failed("the operation arrives unsigned"), pointer, "0x", "something else")
		case !ok && strings.HasPrefix(pointer, strict) && strings.Contains(pointer, "/delegation"):
			j.add(Refuse, "D1", "A delegation is asked for, which this account type does not need.", pointer, "none", string(raw))
		case !ok && strings.HasPrefix(pointer, strict):
			j.add(Refuse, "L4", "The operation carries a member that this wallet does not know.", pointer, "known members only", string(raw))
		case !ok:
			unknown++
		case !l.accepts(raw):
			j.add(Refuse, "L3", "A value does not have its plain JSON form.", pointer, l.form.String(), string(raw))
		}
	})
	if unknown > 0 {
		j.add(Show, "L4", "The answer carries members that this wallet does not use.", "", "", plural(unknown, "value"))
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
	case formNumber:
		return "a plain number, not negative"
	}
	return "an empty list"
}
