package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"coffer/api"
	"coffer/api/catalog"
	"coffer/api/client"
	"coffer/api/network"
	"coffer/api/secret"
	"coffer/config"
	"coffer/wallet/verify"
)

// listing is a service that answers both lists.
type listing struct{ assets []api.AggregatedAsset }

func (l *listing) RoundTrip(r *http.Request) (*http.Response, error) {
	var answer any = []api.SupportedChain{}
	if strings.HasSuffix(r.URL.Path, "/assets/list") {
		answer = l.assets
	}
	b, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(b)), Request: r,
	}, err
}

func opened(t *testing.T, l *listing) *Opened {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	service, err := client.New(client.Options{BaseURL: client.EmbeddedBaseURL, APIKey: secret.New([]byte("key")),
		Transport: l})
	if err != nil {
		t.Fatal(err)
	}
	return &Opened{
		Profile: config.Profile{Name: "team"}, Paths: config.Paths{State: t.TempDir()}, Catalog: c, Client: service,
		Network: network.Descriptor{ID: "one"},
	}
}

const (
	strangerID    = "ob:novel"
	strangerAsset = "eip155:8453/erc20:0x00000000000000000000000000000000000000aB"
)

func stranger(decimals int) api.AggregatedAsset {
	return api.AggregatedAsset{
		AggregatedAssetID: strangerID, Symbol: "NOVEL", Name: "Novel", Decimals: decimals,
		AggregatedEntities: []api.AggregatedEntity{{AssetType: strangerAsset, Symbol: "NOVEL", Name: "Novel",
			Decimals: decimals}},
	}
}

func TestB2_AnAssetIsTrustedOnFirstUseAndAChangeOnlyWhenAccepted(t *testing.T) {
	l := &listing{assets: []api.AggregatedAsset{stranger(6)}}
	o := opened(t, l)
	usable := func() bool {
		t.Helper()
		got, err := o.Lists(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return slices.Contains(got.Assets.Usable, strangerID)
	}
	for range 2 {
		if !usable() {
			t.Fatal("a new asset cannot be used")
		}
	}
	l.assets = []api.AggregatedAsset{stranger(18)}
	for range 2 {
		if usable() {
			t.Fatal("its decimals changed, and it is used as if they had not")
		}
	}
	got, err := o.Lists(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range got.Assets.Changes {
		if change.Pinned {
			continue
		}
		if err := o.AcceptAsset(change); err != nil {
			t.Fatal(err)
		}
	}
	if !usable() {
		t.Fatal("the change was accepted")
	}
	o.Network.ID = "another"
	l.assets = []api.AggregatedAsset{stranger(6)}
	if !usable() {
		t.Fatal("what was seen on one network is held against another")
	}
}

func TestB2_WhatThisProgramShipsCannotBeTalkedAway(t *testing.T) {
	l := &listing{assets: []api.AggregatedAsset{{AggregatedAssetID: "ob:usdc", Symbol: "USDC", Name: "USD Coin",
		Decimals: 8}}}
	o := opened(t, l)
	got, err := o.Lists(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	pinned := 0
	for _, change := range got.Assets.Changes {
		if change.ID == "ob:usdc" && change.Pinned {
			pinned++
			if o.AcceptAsset(change) == nil {
				t.Error("it was accepted")
			}
		}
	}
	if pinned != 1 || slices.Contains(got.Assets.Usable, "ob:usdc") {
		t.Errorf("%+v", got.Assets)
	}
}

func TestB2_AnAssetThatIsGoneIsForgottenWhenAccepted(t *testing.T) {
	l := &listing{assets: []api.AggregatedAsset{stranger(6)}}
	o := opened(t, l)
	if _, err := o.Lists(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.assets = nil
	got, err := o.Lists(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	gone := 0
	for _, change := range got.Assets.Changes {
		if change.Is == nil && !change.Pinned {
			gone++
			if err := o.AcceptAsset(change); err != nil {
				t.Fatal(err)
			}
		}
	}
	if gone == 0 {
		t.Fatalf("nobody says that it is gone: %+v", got.Assets.Changes)
	}
	if got, err = o.Lists(t.Context()); err != nil ||
		slices.ContainsFunc(got.Assets.Changes, func(c verify.AssetChange) bool { return !c.Pinned }) {
		t.Errorf("%+v, %v", got.Assets.Changes, err)
	}
}

func FuzzParseAssetMemory(f *testing.F) {
	for _, s := range []string{`{"version":1,"network":"one","assets":{}}`,
		`{"version":1,"network":"one","assets":{"ob:x":{"decimals":6}}}`, `{}`, `{"version":1}{}`, `[`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseAssetMemory(b, "one")
		if (m == nil) != (err != nil) || err != nil && !errors.Is(err, ErrAssetMemory) {
			t.Errorf("%v, %v", m, err)
		}
	})
}
