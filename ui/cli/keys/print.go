package keys

import (
	"fmt"
	"time"

	"coffer/ui/cli"
	"coffer/ui/present"
	"coffer/ui/profile"
	"coffer/wallet/vault"
)

// itemLine is a key in --json.
type itemLine struct {
	Kind    string    `json:"kind"`
	Address string    `json:"address"`
	Network string    `json:"network"`
	Label   string    `json:"label,omitzero"`
	Created time.Time `json:"created"`
}

func lineOf(k vault.Item) itemLine {
	return itemLine{string(k.Kind), k.Address, k.Network, k.Label, k.Created.UTC()}
}

// vaultLine is a vault in --json.
type vaultLine struct {
	Profile     string `json:"profile"`
	Vault       string `json:"vault"`
	SetUp       bool   `json:"setUp"`
	Network     string `json:"network"`
	Fingerprint string `json:"fingerprint"`
}

func (c Commands) vaultJSON(o *profile.Opened, v *vault.Vault, there bool) error {
	return cli.PrintJSON(c.Out, vaultLine{o.Profile.Name, string(v.Backend()), there, o.Network.ID,
		o.Network.Fingerprint()})
}

func (c Commands) itemsJSON(items []vault.Item) error {
	lines := make([]itemLine, len(items))
	for i, k := range items {
		lines[i] = lineOf(k)
	}
	return cli.PrintJSON(c.Out, lines)
}

// added prints keys that were stored.
func (c Commands) added(items []vault.Item, asJSON bool) error {
	if asJSON {
		return c.itemsJSON(items)
	}
	for _, k := range items {
		if _, err := fmt.Fprintln(c.Out, present.Checksummed(k.Address)); err != nil {
			return err
		}
	}
	return nil
}
