package intent

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/pattern"
	"coffer/api/text"
)

// safeVersion is the one version that batch files of the Safe Transaction Builder have.
const safeVersion = "1.0"

// safeFile is a batch file of the Safe Transaction Builder. Members stay as they were written until their place is
// known; others are not ours.
type safeFile struct {
	Version      jsontext.Value `json:"version"`
	ChainID      jsontext.Value `json:"chainId"`
	Meta         jsontext.Value `json:"meta"`
	Transactions jsontext.Value `json:"transactions"`
}

// safeTransaction is one transaction of a batch: Data, or ContractMethod with the values of its inputs by name. The
// members from Operation on are not of the format, but tools write them and they change what a Safe does.
type safeTransaction struct {
	To             jsontext.Value `json:"to"`
	Value          jsontext.Value `json:"value"`
	Data           jsontext.Value `json:"data"`
	Method         jsontext.Value `json:"contractMethod"`
	Values         jsontext.Value `json:"contractInputsValues"`
	Operation      jsontext.Value `json:"operation"`
	GasPrice       jsontext.Value `json:"gasPrice"`
	GasToken       jsontext.Value `json:"gasToken"`
	RefundReceiver jsontext.Value `json:"refundReceiver"`
}

var (
	reChainID = pattern.New(`^[1-9][0-9]{0,14}$`) // below 2^53, which a number of JSON holds exactly
	reData    = pattern.New(`^0x([0-9a-fA-F]{2})*$`)
)

// FromSafe reads a batch file of the Safe Transaction Builder into a draft that has the calls and the target chain and
// nothing else: complete it with Fill and with what the calls need. Inputs described by contractMethod are encoded;
// where a transaction has data too, both must be the same call.
//
// The file is foreign: members that the format does not have are ignored unless they change what runs. Refused are a
// checksum that is not the file's, another version, a delegate call, a refund, numbers that are not written as strings,
// and whatever does not make a call. The error is an *Error that lists every failure with its place
// ("transactions[2].data"), or wraps an *api.DocumentError.
func FromSafe(b []byte) (Draft, error) {
	doc, err := api.ParseDocument(b, api.DefaultLimits())
	if err != nil {
		return Draft{}, fmt.Errorf("safe batch: %w", err)
	}
	var f safeFile
	if err := doc.Decode(&f); err != nil {
		return Draft{}, &Error{Failures: []api.Failure{failure("", "a batch of the Safe Transaction Builder: an object",
			shown(doc.Raw()))}}
	}
	r := &safeReader{}
	if v, ok := stringIn(f.Version); !ok || v != safeVersion {
		r.fail("version", `"`+safeVersion+`"`, f.Version)
	}
	d := Draft{Version: Version, TargetChain: r.chain(f.ChainID)}
	if err := r.checksum(doc, f.Meta); err != nil {
		return Draft{}, fmt.Errorf("safe batch: %w", err)
	}
	var list []jsontext.Value
	if f.Transactions.Kind() != '[' || json.Unmarshal(f.Transactions, &list) != nil || len(list) < 1 ||
		len(list) > api.MaxListed {
		r.fail("transactions", fmt.Sprintf("1 to %d transactions", api.MaxListed), f.Transactions)
		list = nil
	}
	for i, raw := range list {
		d.Calls = append(d.Calls, r.call("transactions["+strconv.Itoa(i)+"]", raw))
	}
	if len(r.failures) > 0 {
		return Draft{}, &Error{Failures: r.failures}
	}
	return d, nil
}

// safeReader collects what is wrong with a file.
type safeReader struct{ failures []api.Failure }

func (r *safeReader) fail(path, expected string, got jsontext.Value) {
	r.failGot(path, expected, shown(got))
}

func (r *safeReader) failGot(path, expected, got string) {
	r.failures = append(r.failures, failure(path, expected, got))
}

// chain takes the chain id as the format has it, a decimal string, or as a whole number.
func (r *safeReader) chain(raw jsontext.Value) string {
	s, ok := stringIn(raw)
	if raw.Kind() == '0' {
		s, ok = string(raw), true
	}
	if !ok || !reChainID.MatchString(s) {
		r.fail("chainId", "the id of an EVM chain as a decimal string", raw)
		return ""
	}
	return "eip155:" + s
}

// checksum compares the checksum where there is one.
func (r *safeReader) checksum(doc *api.Document, meta jsontext.Value) error {
	if absent(meta) {
		return nil
	}
	var m struct {
		Checksum jsontext.Value `json:"checksum"`
	}
	if meta.Kind() != '{' || json.Unmarshal(meta, &m) != nil {
		r.fail("meta", "an object", meta)
		return nil
	}
	if s, ok := stringIn(m.Checksum); absent(m.Checksum) || ok && s == "" {
		return nil
	}
	sum, err := safeChecksum(doc)
	if err != nil {
		return err
	}
	if got, _ := stringIn(m.Checksum); got != sum {
		r.fail("meta.checksum", sum+": the file is not as it was written", m.Checksum)
	}
	return nil
}

func (r *safeReader) call(path string, raw jsontext.Value) Call {
	var t safeTransaction
	if raw.Kind() != '{' || json.Unmarshal(raw, &t) != nil {
		r.fail(path, "a transaction: an object", raw)
		return Call{}
	}
	if !isZero(t.Operation) {
		r.fail(path+".operation", "0, a call: Coffer never makes a delegate call", t.Operation)
	}
	for _, m := range []struct {
		name string
		raw  jsontext.Value
	}{{"gasPrice", t.GasPrice}, {"gasToken", t.GasToken}, {"refundReceiver", t.RefundReceiver}} {
		if !isZero(m.raw) {
			r.fail(path+"."+m.name, "nothing or 0: a refund by the Safe has no counterpart here", m.raw)
		}
	}
	c := Call{To: r.target(path+".to", t.To), Value: r.wei(path+".value", t.Value)}
	data, ok := r.data(path+".data", t.Data)
	if ok {
		r.input(path, t, data, &c)
	}
	return c
}

func (r *safeReader) target(path string, raw jsontext.Value) string {
	s, ok := stringIn(raw)
	if _, err := caip.ParseAddress(s); !ok || err != nil {
		r.fail(path, "a 0x address", raw)
	} else if caip.CheckEIP55(s) != nil {
		r.fail(path, "an address in lower case or with a correct checksum", raw)
	}
	return s
}

func (r *safeReader) wei(path string, raw jsontext.Value) string {
	s, ok := stringIn(raw)
	v, isWei := api.ParseWei(s)
	if !ok || !isWei {
		r.fail(path, "wei as a decimal string", raw)
		return ""
	}
	if v.Sign() == 0 {
		return ""
	}
	return v.String()
}

// data returns the bytes of the member, nil when it is absent or empty text.
func (r *safeReader) data(path string, raw jsontext.Value) ([]byte, bool) {
	if absent(raw) {
		return nil, true
	}
	s, ok := stringIn(raw)
	if ok && s == "" {
		return nil, true
	}
	if !ok || !reData.MatchString(s) {
		r.fail(path, "call data: 0x and an even number of hexadecimal digits", raw)
		return nil, false
	}
	b, err := hex.DecodeString(s[2:])
	return b, err == nil
}

// input fills in data and function of the call from the data and the method of the transaction.
func (r *safeReader) input(path string, t safeTransaction, data []byte, c *Call) {
	c.Data = callData(data)
	if absent(t.Method) {
		if data == nil && !absent(t.Values) && string(t.Values) != "{}" {
			r.failGot(path+".contractMethod", "a method for the values in contractInputsValues", "")
		}
		return
	}
	m, problem := readMethod(t.Method)
	if problem != "" {
		r.failGot(path+".contractMethod", problem, shown(t.Method))
		return
	}
	if m.plain() {
		return
	}
	f, err := m.function()
	if err != nil {
		r.failGot(path+".contractMethod", "a method that can be called: "+err.Error(), m.Name)
		return
	}
	selector := f.Selector()
	if data != nil && absent(t.Values) {
		if !bytes.HasPrefix(data, selector[:]) {
			r.fail(path+".data", "a call of "+f.Signature(), t.Data)
		}
	} else if encoded, ok := r.encode(path+".contractInputsValues", f, t.Values); !ok {
		return
	} else if data != nil && !bytes.Equal(encoded, data) {
		r.fail(path+".data", "what contractMethod and contractInputsValues encode to, or neither", t.Data)
	} else {
		c.Data = callData(encoded)
	}
	if s := f.String(); len(s) <= maxFunction {
		c.Function = s
	}
}

func callData(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	return "0x" + hex.EncodeToString(b)
}

func absent(raw jsontext.Value) bool { return len(raw) == 0 || raw.Kind() == 'n' }

// isZero reports whether a member is absent or says "none" in one of the ways tools have.
func isZero(raw jsontext.Value) bool {
	if absent(raw) {
		return true
	}
	switch s, _ := stringIn(raw); string(raw) {
	case "0", `""`, `"0"`, `"0x0"`:
		return true
	default:
		a, err := caip.ParseAddress(s)
		return err == nil && a == [20]byte{}
	}
}

// stringIn returns the text of a JSON string.
func stringIn(raw jsontext.Value) (string, bool) {
	if raw.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, raw)
	return string(b), err == nil
}

// shown describes a value of the file in a message.
func shown(raw jsontext.Value) string {
	switch {
	case len(raw) == 0:
		return "nothing"
	case raw.Kind() == '{':
		return "an object"
	case raw.Kind() == '[':
		return "an array"
	}
	return text.Clean(string(raw), 80)
}
