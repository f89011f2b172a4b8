package solnode

import (
	"encoding/json"
	"strings"
	"testing"

	"coffer/api/op/solmsg"
	"coffer/api/service/chain/solana"
)

func TestWhatIsNoTokenAccountIsNotReadAsOne(t *testing.T) {
	owner, mint := solmsg.Key{1}, solmsg.Key{2}
	good, program2022 := solana.TokenAccount(owner, mint, 7), solmsg.Token2022Program()
	change := func(f func(*solana.Account)) solana.Account {
		a := good
		a.Data = append([]byte{}, good.Data...)
		f(&a)
		return a
	}
	for name, c := range map[string]struct {
		a      solana.Account
		v      uint64
		exists bool
		fails  bool
	}{
		"one":                 {good, 7, true, false},
		"frozen":              {change(func(a *solana.Account) { a.Data[108] = 2 }), 7, true, false},
		"none":                {solana.Account{}, 0, false, false},
		"SOL alone":           {solana.SystemAccount(5), 0, false, false},
		"not initialized":     {change(func(a *solana.Account) { a.Data[108] = 0 }), 0, false, true},
		"of an unknown state": {change(func(a *solana.Account) { a.Data[108] = 3 }), 0, false, true},
		"short":               {change(func(a *solana.Account) { a.Data = a.Data[:164] }), 0, false, true},
		"long":                {change(func(a *solana.Account) { a.Data = append(a.Data, 0) }), 0, false, true},
		"of another program":  {change(func(a *solana.Account) { a.Owner = solmsg.Key{9} }), 0, false, true},
		"of another owner":    {solana.TokenAccount(solmsg.Key{3}, mint, 7), 0, false, true},
		"of another token":    {solana.TokenAccount(owner, solmsg.Key{3}, 7), 0, false, true},
		"of Token 2022":       {change(func(a *solana.Account) { a.Owner = program2022 }), 0, false, true},
	} {
		v, exists, err := tokens(c.a, owner, mint)
		if v != c.v || exists != c.exists || (err != nil) != c.fails {
			t.Errorf("%s: %d, %t, %v", name, v, exists, err)
		}
	}
	if good.Data[108] != 1 {
		t.Error("reading changed the account")
	}
}

func TestFaultsOfTheRuntimeAreRead(t *testing.T) {
	for raw, want := range map[string]string{
		`null`:                                  "",
		``:                                      "",
		`"BlockhashNotFound"`:                   "Blockhash not found",
		`"SomethingNew"`:                        "SomethingNew",
		`{"InstructionError":[2,{"Custom":1}]}`: "Error processing Instruction 2: custom program error: 0x1",
		`{"InstructionError":[0,"InvalidArgument"]}`:      "Error processing Instruction 0: invalid program argument",
		`{"InstructionError":[0,{"BorshIoError":"why"}]}`: "Error processing Instruction 0: BorshIoError",
		`{"InsufficientFundsForRent":{"account_index":1}}`: "Transaction results in an account (1) with " +
			"insufficient funds for rent",
		`{"DuplicateInstruction":3}`: "Transaction contains a duplicate instruction (3) that is " +
			"not allowed",
		`{"ProgramExecutionTemporarilyRestricted":{"a":"b"}}`: "ProgramExecutionTemporarilyRestricted",
	} {
		f, err := readFault(json.RawMessage(raw))
		if err != nil || (f == nil) != (want == "") || f != nil && outcome(f).Error != want {
			t.Errorf("%s: %+v, %v", raw, f, err)
		}
	}
	for _, raw := range []string{`5`, `[]`, `{}`, `{"a":1,"b":2}`, `{"InstructionError":[1]}`,
		`{"InstructionError":"x"}`,
		`{"InstructionError":[-1,"X"]}`, `{"InstructionError":[0,{"Custom":-1}]}`, `{"InstructionError":[0,5]}`} {
		if f, err := readFault(json.RawMessage(raw)); err == nil {
			t.Errorf("%s is read as %+v", raw, f)
		}
	}
}

// Whatever a node says is wrong, it is a fault in words that can be shown, or refused.
func FuzzFault(f *testing.F) {
	f.Add(`{"InstructionError":[2,{"Custom":1}]}`)
	f.Add(`"BlockhashNotFound"`)
	f.Add(`{"InsufficientFundsForRent":{"account_index":1}}`)
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := readFault(json.RawMessage(raw))
		if got == nil || err != nil {
			return
		}
		r := outcome(got)
		if r.Success || r.Error == "" && got.Kind != "" || len(r.Error) > 500 ||
			strings.ContainsFunc(r.Error, func(c rune) bool { return c < ' ' || c == 0x7f }) {
			t.Fatalf("%q is read as %+v", raw, r)
		}
	})
}
