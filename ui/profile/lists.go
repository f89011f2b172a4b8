package profile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"coffer/api/catalog"
	"coffer/wallet/verify"
)

// Lists is what the service lists, compared with what this program ships and with what was seen before (TH-B2, B3).
type Lists struct {
	Chains []catalog.ChainInfo
	Assets verify.AssetList
	Report verify.Report
}

// assetsFile keeps what was trusted on first use, beside the journal.
const assetsFile = "assets.json"

const maxAssetsFile = 4 << 20

// rememberedAssets is the content of assetsFile, of one network.
type rememberedAssets struct {
	Version int                `json:"version"`
	Network string             `json:"network"`
	Assets  verify.AssetMemory `json:"assets"`
}

// ErrAssetMemory is the error of a file of remembered assets that this program did not write.
var ErrAssetMemory = errors.New("the file of assets that were seen before cannot be read")

// Lists asks the service for its chains and its assets, compares them, and remembers new assets. It does not remember
// a changed asset: AcceptAsset does that.
func (o *Opened) Lists(ctx context.Context) (Lists, error) {
	chains, err := o.Client.Chains(ctx)
	if err != nil {
		return Lists{}, fmt.Errorf("list of chains: %w", err)
	}
	assets, err := o.Client.Assets(ctx)
	if err != nil {
		return Lists{}, fmt.Errorf("list of assets: %w", err)
	}
	memory, err := o.assetMemory()
	if err != nil {
		return Lists{}, err
	}
	var out Lists
	var report verify.Report
	out.Chains, report = verify.Chains(o.Catalog, chains)
	out.Assets, out.Report = verify.Assets(o.Catalog, memory, assets)
	out.Report.Passed = append(report.Passed, out.Report.Passed...)
	out.Report.Reasons = append(report.Reasons, out.Report.Reasons...)
	if len(out.Assets.First) == 0 {
		return out, nil
	}
	maps.Copy(memory, out.Assets.First)
	return out, o.keepAssets(memory)
}

// AcceptAsset trusts an asset as it is now listed. It refuses one that contradicts this program's own assets.
func (o *Opened) AcceptAsset(c verify.AssetChange) error {
	if c.Pinned {
		return errors.New("it contradicts what this program ships: " + c.ID)
	}
	memory, err := o.assetMemory()
	if err != nil {
		return err
	}
	if c.Is == nil {
		delete(memory, c.ID)
	} else {
		memory[c.ID] = *c.Is
	}
	return o.keepAssets(memory)
}

func (o *Opened) assetFolder() Folder { return Folder{Dir: o.Paths.ProfileState(o.Profile.Name)} }

func (o *Opened) assetMemory() (verify.AssetMemory, error) {
	b, err := o.assetFolder().Load(assetsFile)
	if err != nil || b == nil {
		return verify.AssetMemory{}, err
	}
	networks := []string{o.Network.ID}
	if o.local != nil {
		for _, n := range o.local.Earlier {
			networks = append(networks, n.ID)
		}
	}
	return parseAssetMemory(b, networks...)
}

func (o *Opened) keepAssets(m verify.AssetMemory) error {
	b, err := json.Marshal(rememberedAssets{Version: 1, Network: o.Network.ID, Assets: m}, json.Deterministic(true))
	if err != nil {
		return err
	}
	return o.assetFolder().Save(assetsFile, b)
}

// parseAssetMemory reads the file; it ignores what belongs to none of the networks.
func parseAssetMemory(b []byte, networks ...string) (verify.AssetMemory, error) {
	var m rememberedAssets
	if len(b) > maxAssetsFile {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrAssetMemory, maxAssetsFile)
	}
	if err := json.Unmarshal(b, &m, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAssetMemory, err)
	}
	switch {
	case m.Version != 1:
		return nil, fmt.Errorf("%w: its version is %d", ErrAssetMemory, m.Version)
	case !slices.Contains(networks, m.Network) || m.Assets == nil:
		return verify.AssetMemory{}, nil
	}
	return m.Assets, nil
}
