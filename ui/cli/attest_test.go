package cli

import (
	"context"
	"reflect"
	"testing"
)

func TestAttestReadsItsFlags(t *testing.T) {
	p, _ := program(t)
	var got AttestOptions
	p.Attest = func(_ context.Context, o AttestOptions) error { got = o; return nil }
	if err := p.Run(t.Context(), []string{"attest", "--networks", "n.toml", "--data", "/d", "--keys", "k", "--listen",
		"127.0.0.1:1", "--host", "a.test", "--plain-http", "--metrics", "127.0.0.1:2", "--json", "--log-format", "json",
		"--log-level", "warn", "--max-connections", "8"}); err != nil {
		t.Fatal(err)
	}
	want := AttestOptions{Networks: "n.toml", Data: "/d", Keys: "k", Listen: "127.0.0.1:1", Hosts: []string{"a.test"},
		Plain: true, Metrics: "127.0.0.1:2", Connections: 8, JSON: true, LogJSON: true, LogLevel: 4}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, expected %+v", got, want)
	}
	for _, args := range [][]string{{"attest"}, {"attest", "--networks="}, {"attest", "now"},
		{"attest", "--networks", "n", "--profile", "demo"}, {"attest", "--networks", "n", "--listen", "8444"},
		{"attest", "--networks", "n", "--host", "http://a"}, {"attest", "--networks", "n", "--max-connections", "1"},
		{"attest", "--networks", "n", "--keys="}, {"attest", "--networks", "n", "--log-level", "loud"},
		{"serve", "--keys", "k"}, {"serve", "--serve-anyone-with-real-money"}, {"serve", "--networks", "n", "--keys="},
	} {
		got = AttestOptions{}
		if err := p.Run(t.Context(), args); Code(err) != ExitUsage || got.Networks != "" {
			t.Errorf("%v: code %d, %v", args, Code(err), err)
		}
	}
}

// Real money for anyone is said in words, never by default.
func TestRealMoneyForAnyoneTakesWords(t *testing.T) {
	p := Prompt{}
	if err := p.ConfirmAnyone(t.Context(), false); Code(err) != ExitUsage {
		t.Errorf("without a terminal: %v", err)
	}
	if err := p.ConfirmAnyone(t.Context(), true); err != nil {
		t.Error(err)
	}
}
