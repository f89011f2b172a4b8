package payuri

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

const (
	anna = "0x93DBD23b6b71b82E3A19aD8d51DdEBbB13aF7BC0"
	usdc = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913"
	sol  = "GThUX1Atko4tqhN2NaiTazWSeFWMuiUvfFnyJyUghFMJ"
	mint = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v"
)

func TestARequestIsReadExactly(t *testing.T) {
	for text, want := range map[string]Request{
		"ethereum:" + anna + "@8453?value=2.014e18":    {Chain: 8453, To: anna, Amount: "2014000000000000000"},
		"ETHEREUM:pay-" + strings.ToLower(anna) + "@1": {Chain: 1, To: anna},
		"ethereum:" + usdc + "@8453/transfer?address=" + anna + "&uint256=25e6": {Chain: 8453, To: anna, Token: usdc,
			Amount: "25000000"},
		"ethereum:" + usdc + "@8453/transfer?uint256=1&address=" + anna + "&gasPrice=1": {Chain: 8453, To: anna,
			Token: usdc, Amount: "1", Lost: []string{"gasPrice"}},
		"solana:" + sol + "?amount=0.01&spl-token=" + mint + "&memo=a%20b&reference=" + mint + "&reference=" + sol: {
			Solana: true, To: sol, Token: mint, Amount: "0.01", Lost: []string{"reference", "memo"}},
		" solana:" + sol + "\n": {Solana: true, To: sol},
	} {
		if got, err := Parse(text); err != nil || !reflect.DeepEqual(got, want) || !Is(text) {
			t.Errorf("%s:\n%+v %v", text, got, err)
		}
	}
}

func TestARequestThatIsNotExactIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"ethereum:" + anna: "no chain", "ethereum:" + anna + "@0": "no chain",
		"ethereum:" + anna + "@08453": "no chain",
		"ethereum:" + anna + "@+1":    "no chain", "ethereum:anna.eth@1": "not an address",
		"ethereum:" + anna[:41] + "1@1":                                           "checksum",
		"ethereum:0x" + strings.Repeat("0", 40) + "@1":                            "zero address",
		"ethereum:" + anna + "@1?value=1.5":                                       "whole number",
		"ethereum:" + anna + "@1?value=-1":                                        "whole number",
		"ethereum:" + anna + "@1?value=1e78":                                      "whole number",
		"ethereum:" + anna + "@1?value=1.23e1":                                    "whole number",
		"ethereum:" + anna + "@1?value=0x10":                                      "whole number",
		"ethereum:" + anna + "@1?value=1&value=1":                                 "value twice",
		"ethereum:" + anna + "@1?value=1&data=0x00":                               "asks for data",
		"ethereum:" + usdc + "@1/approve?address=" + anna + "&uint256=1":          "calls approve",
		"ethereum:" + usdc + "@1/transfer?uint256=1":                              "not an address",
		"ethereum:" + usdc + "@1/transfer?address=" + anna + "&uint256=1&value=1": "sends coins to its contract",
		"ethereum:" + usdc + "@1/transfer/x?address=" + anna:                      "calls transfer/x",
		"ethereum:" + anna + "@1?value=%zz":                                       "not written",
		"solana:https%3A%2F%2Fexample.com":                                        "web site",
		"solana:" + anna:                                                          "not a Solana address",
		"solana:" + sol + "?amount=1e3":                                           "not an amount",
		"solana:" + sol + "?amount=.5":                                            "not an amount",
		"solana:" + sol + "?spl-token=" + anna:                                    "address of a token",
		"solana:" + sol + "?link=x":                                               "asks for link",
		"bitcoin:x":                                                               "begins a payment",
		"ethereum:" + strings.Repeat("x", MaxLength):                              "more than",
		"ethereum:" + anna + "@1?\x1b[2J=1":                                       "asks for",
	} {
		got, err := Parse(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%+v %v, want %q", text, got, err, want)
		} else if strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q", err)
		}
	}
	for _, id := range []string{"solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:" + sol, "eip155:1:" + anna, anna} {
		if Is(id) {
			t.Errorf("%s is taken for a request", id)
		}
	}
}

// written reads a request back from what is written of it.
func written(r Request) error {
	r.Lost = nil
	if back, err := Parse(r.String()); err != nil || !reflect.DeepEqual(back, r) {
		return fmt.Errorf("%+v is written %s and read back as %+v: %w", r, r, back, err)
	}
	return nil
}

func TestARequestIsWrittenAsTheSpecificationsSay(t *testing.T) {
	for want, r := range map[string]Request{
		"ethereum:" + anna + "@8453?value=2014000000000000000": {Chain: 8453, To: anna, Amount: "2014000000000000000"},
		"ethereum:" + anna + "@1":                              {Chain: 1, To: anna, Lost: []string{"gas"}},
		"ethereum:" + usdc + "@8453/transfer?address=" + anna + "&uint256=25000000": {Chain: 8453, To: anna,
			Token: usdc, Amount: "25000000"},
		"ethereum:" + usdc + "@8453/transfer?address=" + anna: {Chain: 8453, To: anna, Token: usdc},
		"solana:" + sol + "?amount=0.01&spl-token=" + mint:    {Solana: true, To: sol, Token: mint, Amount: "0.01"},
		"solana:" + sol + "?amount=1":                         {Solana: true, To: sol, Amount: "1"},
		"solana:" + sol:                                       {Solana: true, To: sol},
	} {
		if got := r.String(); got != want || !Is(got) {
			t.Errorf("%+v is written\n%s, not\n%s", r, got, want)
		}
		if err := written(r); err != nil {
			t.Error(err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("ethereum:" + usdc + "@8453/transfer?address=" + anna + "&uint256=25e6")
	f.Add("solana:" + sol + "?amount=0.01&spl-token=" + mint + "&memo=a%20b")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := Parse(s)
		switch {
		case err != nil:
			if strings.ContainsAny(err.Error(), "\x1b\n\x00") {
				t.Errorf("%q", err)
			}
		case written(r) != nil:
			t.Errorf("%q: %v", s, written(r))
		case r.To == "" || !r.Solana && (r.Chain == 0 || strings.Trim(r.Amount, "0123456789") != ""):
			t.Errorf("%q gives %+v", s, r)
		}
	})
}
