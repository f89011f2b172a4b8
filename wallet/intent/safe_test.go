package intent_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ethereum/go-ethereum/accounts/abi"
	"github.com/ethereum/go-ethereum/common"

	"coffer/api"
	"coffer/wallet/intent"
)

func batch(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/safe/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func fromSafe(t testing.TB, file string) intent.Draft {
	t.Helper()
	d, err := intent.FromSafe([]byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestPublishedBatchesKeepTheirChecksum reads batches whose checksum the builder itself wrote; their figures are
// public.
func TestPublishedBatchesKeepTheirChecksum(t *testing.T) {
	for name, want := range map[string]struct {
		chain string
		calls []intent.Call
	}{
		"transfer-1.16.1": {"eip155:42161", []intent.Call{{
			To: "0x912CE59144191C1204E64559FE8253a0e49E6548", Function: "transfer(address to, uint256 amount)",
			Data: "0xa9059cbb000000000000000000000000c38c5f97b34e175ffd35407fc91a937300e33860000000000000000000000000" +
				"00000000000000000000152d02c7e14af6800000",
		}}},
		"approve-1.18.2": {"eip155:1", []intent.Call{{
			To: "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48", Function: "approve(address spender, uint256 value)",
			Data: "0x095ea7b3000000000000000000000000474e5ded6b5d078163bfb8f6dba355c3aa5478c8000000000000000000000000" +
				"000000000000000000000000000000174876e800",
		}}},
		"mixed-1.4.0": {"eip155:4", []intent.Call{
			{To: "0x49d4450977E2c95362C13D3a31a09311E0Ea26A6", Function: "testAddress(address paramAddress)",
				Data: "0x42f4579000000000000000000000000049d4450977e2c95362c13d3a31a09311e0ea26a6"},
			{To: "0x49d4450977E2c95362C13D3a31a09311E0Ea26A6", Function: "testBool(bool paramBool)",
				Data: "0x" + selectorOf("testBool", "bool") + strings.Repeat("0", 64)},
			{To: "0x49d4450977E2c95362C13D3a31a09311E0Ea26A6", Value: "2000000000000000000",
				Data: "0x42f4579000000000000000000000000049d4450977e2c95362c13d3a31a09311e0ea26a6"},
		}},
	} {
		got := fromSafe(t, batch(t, name))
		if !reflect.DeepEqual(got, intent.Draft{Version: 1, TargetChain: want.chain, Calls: want.calls}) {
			t.Errorf("%s: %+v", name, got)
		}
		renamed := strings.NewReplacer(`"name": "Transactions Batch"`, `"name": "Mine"`, `"name": "test batch file"`,
			`"name": "Mine"`).Replace(batch(t, name))
		if renamed == batch(t, name) {
			t.Fatal("not applied")
		}
		fromSafe(t, renamed)
	}
}

func selectorOf(name string, types ...string) string {
	var args abi.Arguments
	for _, s := range types {
		typ, err := abi.NewType(s, "", nil)
		if err != nil {
			panic(err)
		}
		args = append(args, abi.Argument{Type: typ})
	}
	return hex.EncodeToString(abi.NewMethod(name, name, abi.Function, "", false, false, args, nil).ID)
}

func TestAChangedBatchIsRefusedByItsChecksum(t *testing.T) {
	file := batch(t, "transfer-1.16.1")
	for name, changed := range map[string]string{
		"amount":   strings.Replace(file, "100000000000000000000000", "100000000000000000000001", 1),
		"chain":    strings.Replace(file, "42161", "1", 1),
		"moment":   strings.Replace(file, "1690542403538", "1690542403539", 1),
		"extra":    strings.Replace(file, `"value": "0",`, `"value": "0", "note": [],`, 1),
		"checksum": strings.Replace(file, "0x38bc", "0x38bd", 1),
		"a number": strings.Replace(file, `"0x38bc7947894c99cdb9b10ec8e17f2c770aa48b5df11320e5412394d5993e3d94"`, "1",
			1),
	} {
		if changed == file {
			t.Fatalf("%s: not applied", name)
		}
		if got := safePaths(t, changed); !slices.Equal(got, []string{"meta.checksum"}) {
			t.Errorf("%s: %v", name, got)
		}
	}
	for _, none := range []string{`"checksum": ""`, `"checksum": null`, `"other": 1`} {
		fromSafe(t, strings.Replace(file,
			`"checksum": "0x38bc7947894c99cdb9b10ec8e17f2c770aa48b5df11320e5412394d5993e3d94"`, none, 1))
	}
}

// TestInputsAreEncodedAsAnotherImplementationDoes compares with the encoder of go-ethereum.
func TestInputsAreEncodedAsAnotherImplementationDoes(t *testing.T) {
	d := fromSafe(t, batch(t, "types"))
	if d.TargetChain != "eip155:8453" || len(d.Calls) != 4 || d.Network != "" || d.Accounts != nil {
		t.Fatalf("%+v", d)
	}
	type terms struct {
		Open bool
		Memo string
	}
	type order struct {
		Maker   common.Address
		Amounts [2]*big.Int
		Terms   terms
	}
	who := common.HexToAddress(to)
	half := new(big.Int).Lsh(big.NewInt(1), 127)
	parsed, err := abi.JSON(strings.NewReader(
		`[{"type":"function","name":"settle","inputs":[{"name":"orders","type":"tuple[]",` +
			`"components":[{"name":"maker","type":"address"},
		{"name":"amounts","type":"int256[2]"},{"name":"terms","type":"tuple","components":[{"name":"open",` +
			`"type":"bool"},{"name":"memo","type":"string"}]}]},
		{"name":"roles","type":"bytes32[]"},{"name":"matrix","type":"uint16[][2]"},{"name":"delta","type":"int24"},` +
			`{"name":"extra","type":"bytes"},{"name":"on","type":"bool"},{"name":"s","type":"string"}]},
		{"type":"function","name":"native","inputs":[{"name":"list","type":"bool[]"},{"name":"pair","type":"tuple",` +
			`"components":[{"name":"a","type":"uint8"},{"name":"b","type":"uint8"}]}]}]`))
	if err != nil {
		t.Fatal(err)
	}
	want, err := parsed.Pack("settle",
		[]order{{who, [2]*big.Int{big.NewInt(-1), half}, terms{true, `a "b" \n, [c]`}},
			{who, [2]*big.Int{new(big.Int), big.NewInt(2)}, terms{}}},
		[][32]byte{common.HexToHash("0xe4041b7c17d9c1871f2ba2855b724e8cdbb7c190bc2fbfaab37f914aa5ead4e9"),
			common.HexToHash("0x3a5fbda603e92fb625ac204c5e4dc0e375c53b53fa42682287bdce2bca35a5dd")},
		[2][]uint16{{1, 2}, {}}, big.NewInt(-8388608), []byte{0, 0xff}, true, "back\\slash, \"quotes\" and ünïcode\n")
	if err != nil {
		t.Fatal(err)
	}
	if d.Calls[0].Data != "0x"+hex.EncodeToString(want) {
		t.Errorf("settle\n%s\n0x%x", d.Calls[0].Data, want)
	}
	want, err = parsed.Pack("native", []bool{true, false, true, false}, struct{ A, B uint8 }{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if d.Calls[3].Data != "0x"+hex.EncodeToString(want) || d.Calls[3].Value != "" {
		t.Errorf("native\n%+v\n0x%x", d.Calls[3], want)
	}
	if want := "settle((address maker, int256[2] amounts, (bool open, string memo) terms)[] orders, bytes32[] roles, " +
		"uint16[][2] matrix, int24 delta, bytes extra, bool on, string)"; d.Calls[0].Function != want {
		t.Errorf("%s", d.Calls[0].Function)
	}
	plain := []intent.Call{{To: strings.ToLower(to), Value: "1000000000000000000"},
		{To: "0x1111111111111111111111111111111111111111", Value: "16"}}
	if !reflect.DeepEqual(d.Calls[1:3], plain) {
		t.Errorf("%+v", d.Calls[1:3])
	}
}

// safePaths reads a broken batch and returns the places of its failures.
func safePaths(t *testing.T, file string) []string {
	t.Helper()
	d, err := intent.FromSafe([]byte(file))
	var e *intent.Error
	if !errors.As(err, &e) {
		t.Errorf("not refused with places: %+v, %v", d, err)
		return nil
	}
	var out []string
	for _, f := range e.Failures {
		if f.Expected == "" || f.Got == "" || strings.ContainsRune(f.String(), '\x1b') {
			t.Errorf("a failure without expected or got: %+v", f)
		}
		out = append(out, f.Path)
	}
	return out
}

// one is a batch of two transactions, the second of which has the given members beside a good receiver and value.
func one(members string) string {
	return `{"version":"1.0","chainId":"8453","transactions":[{"to":"` + to + `","value":"1"},{"to":"` + to +
		`","value":"0"` + members + `}]}`
}

func method(inputs, values string) string {
	return one(`,"contractMethod":{"name":"f","inputs":[` + inputs + `]},"contractInputsValues":{` + values + `}`)
}

func TestEveryRefusalOfATransactionNamesIt(t *testing.T) {
	input := func(typ string) string { return `{"name":"x","type":"` + typ + `"}` }
	tuple := `{"name":"x","type":"tuple","components":[{"name":"a","type":"uint8"},{"name":"b","type":"uint8"}]}`
	const at = "transactions[1]"
	for name, c := range map[string]struct{ file, path string }{
		"no object": {`{"version":"1.0","chainId":"1","transactions":[{"to":"` + to +
			`","value":"1"},7]}`, at},
		"no receiver": {`{"version":"1.0","chainId":"1","transactions":[{"to":"` + to +
			`","value":"1"},{"value":"1"}]}`, at + ".to"},
		"short receiver": {strings.Replace(one(""), `{"to":"`+to+`","value":"0"`, `{"to":"0x12","value":"0"`,
			1), at + ".to"},
		"receiver, wrong checksum": {strings.Replace(one(""), `{"to":"`+to+`","value":"0"`,
			`{"to":"`+strings.Replace(to, "DBD", "dBD", 1)+`","value":"0"`, 1), at + ".to"},
		"value is a number": {strings.Replace(one(""), `"value":"0"`, `"value":1`, 1), at + ".value"},
		"value missing":     {strings.Replace(one(""), `,"value":"0"`, ``, 1), at + ".value"},
		"value in ether":    {strings.Replace(one(""), `"value":"0"`, `"value":"1.5"`, 1), at + ".value"},
		"value too large": {strings.Replace(one(""), `"value":"0"`, `"value":"`+strings.Repeat("9", 78)+`"`,
			1), at + ".value"},
		"delegate call":          {one(`,"operation":1`), at + ".operation"},
		"delegate call as text":  {one(`,"operation":"1"`), at + ".operation"},
		"delegate call in words": {one(`,"operation":"DELEGATECALL"`), at + ".operation"},
		"operation as an object": {one(`,"operation":{}`), at + ".operation"},
		"refund price":           {one(`,"gasPrice":"1"`), at + ".gasPrice"},
		"refund token":           {one(`,"gasToken":"` + to + `"`), at + ".gasToken"},
		"refund receiver":        {one(`,"refundReceiver":"` + to + `"`), at + ".refundReceiver"},
		"data is a number":       {one(`,"data":1`), at + ".data"},
		"data without 0x":        {one(`,"data":"a9059cbb"`), at + ".data"},
		"odd data":               {one(`,"data":"0xa"`), at + ".data"},
		"data of another method": {
			one(`,"data":"0x01020304","contractMethod":{"name":"f","inputs":[]},"contractInputsValues":{}`),
			at + ".data"},
		"data, another selector": {one(`,"data":"0x01020304","contractMethod":{"name":"f","inputs":[` +
			input("uint8") + `]}`), at + ".data"},
		"empty data beside method": {
			one(`,"data":"0x","contractMethod":{"name":"f","inputs":[]},"contractInputsValues":{}`), at + ".data"},
		"values without a method":   {one(`,"contractInputsValues":{"x":"1"}`), at + ".contractMethod"},
		"method is text":            {one(`,"contractMethod":"f()"`), at + ".contractMethod"},
		"method without a name":     {one(`,"contractMethod":{"inputs":[]}`), at + ".contractMethod"},
		"method, names in capitals": {one(`,"contractMethod":{"NAME":"f","inputs":[]}`), at + ".contractMethod"},
		"method is an event": {one(`,"contractMethod":{"type":"event","name":"f","inputs":[]}`),
			at + ".contractMethod"},
		"fallback with inputs": {one(`,"contractMethod":{"name":"fallback","inputs":[` + input("uint8") +
			`]},"contractInputsValues":{"x":"1"}`), at + ".contractMethod"},
		"unknown type":             {method(input("uint9"), `"x":"1"`), at + ".contractMethod"},
		"tuple without components": {method(input("tuple"), `"x":"[]"`), at + ".contractMethod"},
		"values are a list": {one(`,"contractMethod":{"name":"f","inputs":[` + input("uint8") +
			`]},"contractInputsValues":["1"]`), at + ".contractInputsValues"},
		"no values": {one(`,"contractMethod":{"name":"f","inputs":[` + input("uint8") + `]}`),
			at + ".contractInputsValues.x"},
		"value is missing": {method(input("uint8"), `"y":"1"`), at + ".contractInputsValues.x"},
		"value is null":    {method(input("uint8"), `"x":null`), at + ".contractInputsValues.x"},
		"two inputs of a name": {method(input("uint8")+","+input("uint8"), `"x":"1"`),
			at + ".contractInputsValues.x"},
		"number as JSON": {method(input("uint256"), `"x":10000000000000000001`),
			at + ".contractInputsValues.x"},
		"number as JSON, inside": {method(input("uint8[]"), `"x":[1]`), at + ".contractInputsValues.x"},
		"number out of range":    {method(input("uint8"), `"x":"256"`), at + ".contractInputsValues.x"},
		"negative unsigned":      {method(input("uint8"), `"x":"-1"`), at + ".contractInputsValues.x"},
		"number with exponent":   {method(input("uint256[]"), `"x":"[1e18]"`), at + ".contractInputsValues.x[0]"},
		"empty number":           {method(input("uint8"), `"x":""`), at + ".contractInputsValues.x"},
		"bool in words":          {method(input("bool"), `"x":"yes"`), at + ".contractInputsValues.x"},
		"address, wrong checksum": {method(input("address"), `"x":"`+strings.Replace(to, "DBD", "dBD", 1)+`"`),
			at + ".contractInputsValues.x"},
		"odd bytes":                 {method(input("bytes"), `"x":"0xa"`), at + ".contractInputsValues.x"},
		"list for a leaf":           {method(input("uint8"), `"x":["1"]`), at + ".contractInputsValues.x"},
		"leaf for a list":           {method(input("uint8[]"), `"x":"1"`), at + ".contractInputsValues.x"},
		"list left open":            {method(input("uint8[]"), `"x":"[1"`), at + ".contractInputsValues.x"},
		"list that ends in a comma": {method(input("uint8[]"), `"x":"[1,]"`), at + ".contractInputsValues.x"},
		"list without commas":       {method(input("uint8[]"), `"x":"[1 2]"`), at + ".contractInputsValues.x"},
		"text after a list":         {method(input("uint8[]"), `"x":"[1] 2"`), at + ".contractInputsValues.x"},
		"list that is too deep": {method(input("uint8[]"),
			`"x":"`+strings.Repeat("[", 100)+strings.Repeat("]", 100)+`"`), at + ".contractInputsValues.x"},
		"empty text for a list":     {method(input("uint8[]"), `"x":""`), at + ".contractInputsValues.x"},
		"quote left open":           {method(input("string[]"), `"x":"[\"a]"`), at + ".contractInputsValues.x"},
		"bad escape":                {method(input("string[]"), `"x":"[\"\\q\"]"`), at + ".contractInputsValues.x"},
		"escape in single quotes":   {method(input("string[]"), `"x":"['\\n']"`), at + ".contractInputsValues.x"},
		"bare text":                 {method(input("string[]"), `"x":"[hello]"`), at + ".contractInputsValues.x"},
		"fixed list, one short":     {method(input("uint8[2]"), `"x":"[1]"`), at + ".contractInputsValues.x"},
		"tuple, one short":          {method(tuple, `"x":"[1]"`), at + ".contractInputsValues.x"},
		"tuple as text":             {method(tuple, `"x":"1"`), at + ".contractInputsValues.x"},
		"tuple, other names":        {method(tuple, `"x":"{\"a\":1,\"c\":2}"`), at + ".contractInputsValues.x"},
		"tuple, one name more":      {method(tuple, `"x":"{\"a\":1,\"b\":2,\"c\":2}"`), at + ".contractInputsValues.x"},
		"tuple, one name twice":     {method(tuple, `"x":"{\"a\":1,\"a\":2}"`), at + ".contractInputsValues.x"},
		"tuple, empty":              {method(tuple, `"x":"{}"`), at + ".contractInputsValues.x"},
		"object, name not quoted":   {method(tuple, `"x":"{a:1}"`), at + ".contractInputsValues.x"},
		"object, no colon":          {method(tuple, `"x":"{\"a\" 1}"`), at + ".contractInputsValues.x"},
		"object, no value":          {method(tuple, `"x":"{\"a\":}"`), at + ".contractInputsValues.x"},
		"object, no comma":          {method(tuple, `"x":"{\"a\":1 \"b\":2}"`), at + ".contractInputsValues.x"},
		"object, left open":         {method(tuple, `"x":"{"`), at + ".contractInputsValues.x"},
		"object for a leaf, inside": {method(input("uint8[]"), `"x":"[{}]"`), at + ".contractInputsValues.x"},
	} {
		if got := safePaths(t, c.file); !slices.Equal(got, []string{c.path}) {
			t.Errorf("%s: refused at %v, expected at %s", name, got, c.path)
		}
	}
}

func TestAFileThatIsNoBatchIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, path string }{
		"a list":               {`[]`, ""},
		"another version":      {strings.Replace(one(""), `"1.0"`, `"2.0"`, 1), "version"},
		"version as a number":  {strings.Replace(one(""), `"1.0"`, `1.0`, 1), "version"},
		"no version":           {strings.Replace(one(""), `"version":"1.0",`, ``, 1), "version"},
		"no chain":             {strings.Replace(one(""), `"chainId":"8453",`, ``, 1), "chainId"},
		"chain zero":           {strings.Replace(one(""), `"8453"`, `"0"`, 1), "chainId"},
		"chain in hex":         {strings.Replace(one(""), `"8453"`, `"0x2105"`, 1), "chainId"},
		"chain with a name":    {strings.Replace(one(""), `"8453"`, `"eip155:8453"`, 1), "chainId"},
		"chain as a fraction":  {strings.Replace(one(""), `"8453"`, `8453.5`, 1), "chainId"},
		"chain as an escape":   {strings.Replace(one(""), `"8453"`, `"\u001b[2J"`, 1), "chainId"},
		"meta is a list":       {strings.Replace(one(""), `"chainId"`, `"meta":[],"chainId"`, 1), "meta"},
		"no transactions":      {`{"version":"1.0","chainId":"1"}`, "transactions"},
		"empty":                {`{"version":"1.0","chainId":"1","transactions":[]}`, "transactions"},
		"transactions by name": {`{"version":"1.0","chainId":"1","transactions":{}}`, "transactions"},
		"too many": {`{"version":"1.0","chainId":"1","transactions":[` + strings.Repeat("{},", 100) +
			`{}]}`, "transactions"},
	} {
		if got := safePaths(t, c.file); !slices.Equal(got, []string{c.path}) {
			t.Errorf("%s: refused at %v, expected at %q", name, got, c.path)
		}
	}
	for _, file := range []string{"", "{}{}", strings.Replace(one(""), `"value":"0"`, `"value":"0","value":"1"`, 1)} {
		var de *api.DocumentError
		if _, err := intent.FromSafe([]byte(file)); !errors.As(err, &de) {
			t.Errorf("%q: %v", file, err)
		}
	}
}

func TestANumberWithoutAValueHasNoChecksum(t *testing.T) {
	file := strings.Replace(one(""), `"chainId"`, `"createdAt":1e999,"meta":{"checksum":"0x00"},"chainId"`, 1)
	if d, err := intent.FromSafe([]byte(file)); err == nil {
		t.Errorf("%+v", d)
	}
}

func TestAllFailuresOfABatchAreListed(t *testing.T) {
	got := safePaths(t,
		`{"version":"3","chainId":"x","meta":{"checksum":"0x"},"transactions":[{"to":"x","value":1,"operation":1,`+
			`"data":"x"},{"to":"`+to+`","value":"0","contractMethod":{"name":"f","inputs":[{"name":"a",`+
			`"type":"uint8"},{"name":"b","type":"uint8[]"}]},"contractInputsValues":{"a":"300","b":"[1,x]"}}]}`)
	want := []string{"version", "chainId", "meta.checksum", "transactions[0].operation", "transactions[0].to",
		"transactions[0].value", "transactions[0].data", "transactions[1].contractInputsValues.a",
		"transactions[1].contractInputsValues.b[1]"}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}

func TestWhatChangesNothingIsTolerated(t *testing.T) {
	want := fromSafe(t, one(""))
	for name, file := range map[string]string{
		"a call, said twice": one(`,"operation":"0"`),
		"no refund": one(
			`,"gasPrice":"0","gasToken":"0x0000000000000000000000000000000000000000","refundReceiver":null,` +
				`"safeTxGas":"50000","nonce":7`),
		"notes":                 one(`,"meta":{"tx_index":1}`),
		"chain as a number":     strings.Replace(one(""), `"8453"`, `8453`, 1),
		"no values, no method":  one(`,"contractMethod":null,"contractInputsValues":{}`),
		"fallback without data": one(`,"contractMethod":{"name":"fallback","inputs":null,"type":"fallback"}`),
		"no meta":               strings.Replace(one(""), `"chainId"`, `"meta":null,"chainId"`, 1),
	} {
		if got := fromSafe(t, file); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	data := `,"data":"0x26121ff0"`
	for name, file := range map[string]string{
		"data that agrees": one(data + `,"contractMethod":{"name":"f","inputs":[]},"contractInputsValues":{}`),
		"data by itself": one(data +
			`,"contractMethod":{"name":"f","type":"function","inputs":[]},"contractInputsValues":null`),
		"the method alone": one(
			`,"contractMethod":{"name":"f","inputs":[],"payable":true},"contractInputsValues":{"left over":"1"}`),
	} {
		if got := fromSafe(t, file).Calls[1]; got != (intent.Call{To: to, Data: "0x26121ff0", Function: "f()"}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if got := fromSafe(t, one(data+`,"contractInputsValues":{"x":"1"}`)).Calls[1]; got.Function != "" ||
		got.Data != "0x26121ff0" {
		t.Errorf("%+v", got)
	}
	long := method(`{"name":"`+strings.Repeat("x", 600)+`","type":"uint8"}`, `"`+strings.Repeat("x", 600)+`":"1"`)
	if got := fromSafe(t, long).Calls[1]; got.Function != "" || len(got.Data) != 74 {
		t.Errorf("%+v", got)
	}
}

func TestAnApprovalInABatchIsRefusedAtFreeze(t *testing.T) {
	d := fromSafe(t, batch(t, "approve-1.18.2")).Fill(draft().Network, []api.Account{kernel()})
	if got := paths(t, d, rules(t)); !slices.Equal(got, []string{"calls[0].data"}) {
		t.Error(got)
	}
}

func TestABatchIsWrittenAndReadBack(t *testing.T) {
	created := time.UnixMilli(1_760_000_000_123)
	full := fromSafe(t, batch(t, "types"))
	full.Calls = append(full.Calls, intent.Call{To: to, Data: "0x1234"},
		intent.Call{To: to, Value: "3", Data: "0xd0e30db0", Function: "deposit()"})
	for name, d := range map[string]intent.Draft{
		"every type": full, "transfer": fromSafe(t, batch(t, "transfer-1.16.1")),
		"mixed": fromSafe(t, batch(t, "mixed-1.4.0")), "call": draft(),
	} {
		b, err := intent.ToSafe(d, created)
		if err != nil {
			t.Fatal(name, err)
		}
		want := intent.Draft{Version: 1, TargetChain: d.TargetChain}
		for _, c := range d.Calls {
			if c.Data == "" {
				c.Function = "" // describes nothing
			}
			want.Calls = append(want.Calls, c)
		}
		if got := fromSafe(t, string(b)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v\n%+v", name, got, want)
		}
		if again, _ := intent.ToSafe(d, created); string(again) != string(b) {
			t.Errorf("%s: written twice, two files", name)
		}
		if changed := strings.Replace(string(b), `"value": "`, `"value": "9`,
			1); !slices.Contains(safePaths(t, changed), "meta.checksum") {
			t.Errorf("%s: the checksum does not cover the value", name)
		}
	}
}

func TestAWrittenBatchHasTheFormOfTheBuilder(t *testing.T) {
	d := fromSafe(t, batch(t, "types"))
	d.Calls = append(d.Calls, intent.Call{To: to, Data: "0xd0e30db0", Value: "1", Function: "deposit()"})
	b, err := intent.ToSafe(d, time.UnixMilli(1_760_000_000_123))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		Version      string `json:"version"`
		ChainID      string `json:"chainId"`
		CreatedAt    int64  `json:"createdAt"`
		Meta         map[string]string
		Transactions []struct {
			To, Value, Data string
			ContractMethod  *struct {
				Name    string
				Payable bool
				Inputs  []struct{ Name, Type, InternalType string }
			}
			ContractInputsValues map[string]string
		}
	}
	if err := json.Unmarshal(b, &f); err != nil {
		t.Fatal(err)
	}
	if f.Version != "1.0" || f.ChainID != "8453" || f.CreatedAt != 1_760_000_000_123 || len(f.Meta["checksum"]) != 66 ||
		f.Meta["name"] == "" {
		t.Errorf("%+v", f)
	}
	first, plain, last := f.Transactions[0], f.Transactions[1], f.Transactions[4]
	if first.ContractMethod == nil || first.ContractMethod.Name != "settle" ||
		first.ContractMethod.Inputs[0].Type != "tuple[]" || first.ContractMethod.Inputs[2].Type != "uint16[][2]" ||
		first.ContractMethod.Payable {
		t.Errorf("%+v", first.ContractMethod)
	}
	for name, want := range map[string]string{
		"orders": `[["0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",["-1","170141183460469231731687303715884105728"],` +
			`[true,"a \"b\" \\n, [c]"]],["0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0",["0","2"],[false,""]]]`,
		"matrix": `[["1","2"],[]]`, "delta": "-8388608", "on": "true", "6": "back\\slash, \"quotes\" and ünïcode\n",
	} {
		if got := first.ContractInputsValues[name]; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if plain.Data != "0x" || plain.Value != "1000000000000000000" || plain.ContractMethod != nil ||
		plain.ContractInputsValues != nil {
		t.Errorf("%+v", plain)
	}
	if last.ContractMethod == nil || !last.ContractMethod.Payable || len(last.ContractMethod.Inputs) != 0 ||
		last.Data != "0xd0e30db0" {
		t.Errorf("%+v", last)
	}
	if !strings.Contains(string(b), "\"inputs\": []") {
		t.Error("a method without inputs has a list of none")
	}
}

// TestADescriptionThatDoesNotFitStaysOut: the data counts, so a method that would be read as another call is not
// written.
func TestADescriptionThatDoesNotFitStaysOut(t *testing.T) {
	packed := func(s string) string {
		return "0x" + selectorOf("f", "string") + strings.Repeat("0", 62) + "20" + strings.Repeat("0", 62) + "01" + s +
			strings.Repeat("0", 62)
	}
	for name, c := range map[string]intent.Call{
		"another function":   {To: to, Data: "0x01020304", Function: "deposit()"},
		"not a signature":    {To: to, Data: "0x01020304", Function: "pay the bill"},
		"bytes without text": {To: to, Data: packed("ff"), Function: "f(string s)"},
		"invisible text":     {To: to, Data: packed("00"), Function: "f(string s)"},
		"two inputs, a name": {To: to, Data: "0x" + selectorOf("f", "uint8", "uint8") + strings.Repeat("0", 128),
			Function: "f(uint8 a, uint8 a)"},
		"receive": {To: to, Data: "0x" + selectorOf("receive"), Function: "receive()"},
	} {
		d := intent.Draft{Version: 1, TargetChain: "eip155:1", Calls: []intent.Call{c}}
		b, err := intent.ToSafe(d, time.Unix(0, 0))
		if err != nil {
			t.Fatal(name, err)
		}
		got := fromSafe(t, string(b)).Calls[0]
		if got.Data != c.Data || got.Function != "" || !strings.Contains(string(b), `"contractMethod": null`) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestToSafeRefusesWhatABatchCannotSay(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d *intent.Draft)
		want   string
	}{
		"swap":     {func(d *intent.Draft) { d.Kind = intent.KindSwap }, "kind"},
		"no chain": {func(d *intent.Draft) { d.TargetChain = "" }, "targetChain"},
		"Solana": {func(d *intent.Draft) { d.TargetChain = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" },
			"targetChain"},
		"no calls":   {func(d *intent.Draft) { d.Calls = nil }, "calls"},
		"allowances": {func(d *intent.Draft) { d.Allowances = withAll().Allowances }, "allowances"},
		"not before": {func(d *intent.Draft) { d.ValidAfter = "1" }, "validAfter"},
		"not after":  {func(d *intent.Draft) { d.ValidUntil = "1" }, "validUntil"},
		"receiver":   {func(d *intent.Draft) { d.Calls[1].To = "0x1" }, "calls[1].to"},
		"checksum": {func(d *intent.Draft) { d.Calls[1].To = strings.Replace(to, "DBD", "dBD", 1) },
			"calls[1].to"},
		"value":         {func(d *intent.Draft) { d.Calls[1].Value = "1.5" }, "calls[1].value"},
		"value in hex":  {func(d *intent.Draft) { d.Calls[1].Value = "0x10" }, "calls[1].value"},
		"value too big": {func(d *intent.Draft) { d.Calls[1].Value = strings.Repeat("9", 78) }, "calls[1].value"},
		"data":          {func(d *intent.Draft) { d.Calls[1].Data = "0x1" }, "calls[1].data"},
	} {
		d := draft()
		c.change(&d)
		_, err := intent.ToSafe(d, time.Unix(0, 0))
		var e *intent.Error
		if !errors.As(err, &e) || len(e.Failures) != 1 || e.Failures[0].Path != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
}
