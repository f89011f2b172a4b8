package cli

import (
	"context"
	"reflect"
	"testing"
)

func TestDevnetReadsItsFlags(t *testing.T) {
	p, _ := program(t)
	var got DevnetOptions
	p.Devnet = func(_ context.Context, o DevnetOptions) error { got = o; return nil }
	if err := p.Run(t.Context(), []string{"devnet", "--data", "/d", "--listen", "127.0.0.1:1", "--service", "[::1]:2",
		"--json", "--dev", "--fund", "0xa,b", "--fund", "c", "--cors", "http://localhost:3000", "--allow-remote",
		"--port-per-chain", "--host", "devnet.test"}); err != nil {
		t.Fatal(err)
	}
	want := DevnetOptions{Data: "/d", Listen: "127.0.0.1:1", Service: "[::1]:2", JSON: true, Dev: true,
		AllowRemote: true, PortPer: true, Fund: []string{"0xa", "b", "c"}, CORS: []string{"http://localhost:3000"},
		Hosts: []string{"devnet.test"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, expected %+v", got, want)
	}
	if err := p.Run(t.Context(), []string{"devnet"}); err != nil {
		t.Fatal(err)
	}
	if got.Listen != "127.0.0.1:8545" || got.Data != "" || got.AllowRemote || got.JSON {
		t.Errorf("defaults: %+v", got)
	}
}

func TestDevnetRefusesWhatItCannotDo(t *testing.T) {
	p, _ := program(t)
	p.Devnet = func(context.Context, DevnetOptions) error { t.Error("it ran"); return nil }
	p.Serve = func(context.Context, ServeOptions) error { t.Error("it was served"); return nil }
	for _, args := range [][]string{
		{"devnet", "now"}, {"devnet", "--listen", "8545"}, {"devnet", "--service", "x"}, {"devnet", "--data="},
		{"devnet", "--cors", "localhost"}, {"devnet", "--cors", "http://a/"}, {"devnet", "--cors="},
		{"devnet", "--host", "http://a"}, {"devnet", "--fund="}, {"devnet", "--profile", "demo"},
		{"serve", "--rpc", "8545"}, {"serve", "--rpc="}, {"serve", "--rpc-open"}, {"serve", "--rpc-cors", "*"},
		{"serve", "--rpc", "127.0.0.1:0", "--rpc-cors", "x"},
	} {
		if err := p.Run(t.Context(), args); Code(err) != ExitUsage {
			t.Errorf("%v: code %d, %v", args, Code(err), err)
		}
	}
}
