package act

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"coffer/api"
	"coffer/api/caip"
	"coffer/ui/cli"
	"coffer/wallet/verify"
)

// Chains builds `coffer chains`.
func (c Commands) Chains(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "chains",
		Short: "List the chains of the service, compared with the shipped ones",
		Long: `Lists the chains that the service supports, with the names of this program. What a comparison finds is
said on standard error, also with --json. A list that contradicts itself is refused (exit code 4).`,
		Example: "  coffer chains\n  coffer chains --json | jq -r '.[].chain.chain'",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.chains(cmd.Context(), s, asJSON)
	})
}

func (c Commands) chains(ctx context.Context, s *Session, asJSON bool) error {
	answer, err := s.Service.ChainsDocument(ctx)
	if err != nil {
		return err
	}
	var list []api.SupportedChain
	if err := answer.Decode(&list); err != nil {
		return err
	}
	known, report := verify.Chains(s.Catalog, list)
	c.findings(report)
	if asJSON {
		err = c.write(answer.Raw())
	} else {
		w := cli.Columns(c.Out)
		for _, k := range known {
			fmt.Fprintf(w, "%s\t%s\t%s\n", k.Chain, k.Name, k.NativeSymbol)
		}
		err = w.Flush()
	}
	return orRefused(err, report)
}

// Assets builds `coffer assets`.
func (c Commands) Assets(g *cli.Global) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "assets",
		Short: "List the assets of the service, compared with the shipped ones",
		Long: `Lists the assets with their chains, by the names and decimals of this program. An asset that differs
from the shipped one or from what was seen before is marked and refused (exit code 4); one that is seen for the first
time is remembered. What the comparison finds is said on standard error, also with --json.`,
		Example: "  coffer assets\n  coffer assets --json | jq -r '.[].aggregatedAssetId'",
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the service's answer as it is")
	return c.works(g, cmd, func(cmd *cobra.Command, s *Session, _ []string) error {
		return c.assets(cmd.Context(), s, asJSON)
	})
}

func (c Commands) assets(ctx context.Context, s *Session, asJSON bool) error {
	lists, err := s.Lists(ctx)
	if err != nil {
		return err
	}
	answer, err := s.Service.AssetsDocument(ctx)
	if err != nil {
		return err
	}
	var list []api.AggregatedAsset
	if err := answer.Decode(&list); err != nil {
		return err
	}
	report := lists.Report
	report.Reasons = append(slices.Clone(report.Reasons), otherwise(lists.Assets, list)...)
	c.findings(report)
	if asJSON {
		err = c.write(answer.Raw())
	} else {
		err = c.assetTable(list, lists.Assets, s)
	}
	if err = orRefused(err, report); err == nil && differs(lists.Assets) {
		err = &cli.RefusedError{Problem: "an asset is not what it was: do not use its decimals. Where it does not " +
			"contradict this program, Balances in the dashboard can accept it"}
	}
	return err
}

// differs reports that a listed asset differs from the shipped or the remembered one. An asset that is no longer
// listed is only reported.
func differs(judged verify.AssetList) bool {
	return slices.ContainsFunc(judged.Changes, func(x verify.AssetChange) bool { return x.Is != nil })
}

// otherwise finds what the printed answer has beyond the compared one: the service is asked twice and could answer
// differently.
func otherwise(judged verify.AssetList, list []api.AggregatedAsset) []verify.Reason {
	met := map[string]bool{}
	for _, id := range judged.Usable {
		met[id] = true
	}
	for _, x := range judged.Changes {
		met[x.ID] = true
	}
	for i, a := range list {
		if !met[a.AggregatedAssetID] {
			return []verify.Reason{{
				Code: "B2", Level: verify.Refuse,
				Title: "The service lists an asset that was not in the list that was compared.",
				Path:  fmt.Sprintf("/%d/aggregatedAssetId", i), Got: clean(a.AggregatedAssetID),
			}}
		}
	}
	return nil
}

// assetTable prints one line for each asset and one for each of its chains. An unusable asset shows no figure of the
// service.
func (c Commands) assetTable(list []api.AggregatedAsset, judged verify.AssetList, s *Session) error {
	w := cli.Columns(c.Out)
	for _, a := range list {
		id, err := caip.ParseAggregate(a.AggregatedAssetID)
		if err != nil || !slices.Contains(judged.Usable, id.String()) {
			fmt.Fprintf(w, "%s\trefused\t\n", clean(a.AggregatedAssetID))
			continue
		}
		name, decimals := clean(a.Name), a.Decimals
		if ours, ok := s.Catalog.Aggregate(id); ok {
			name, decimals = ours.Name, ours.Decimals
		}
		fmt.Fprintf(w, "%s\t%s\t%d decimals\n", clean(id.String()), name, decimals)
		for _, e := range a.AggregatedEntities {
			asset, err := caip.ParseAsset(e.AssetType)
			if err != nil || !slices.Contains(judged.Usable, asset.String()) {
				fmt.Fprintf(w, "  %s\trefused\t\n", clean(e.AssetType))
				continue
			}
			fmt.Fprintf(w, "  %s\t%s\t%d decimals\n", asset, s.chainName(asset.Chain.String()), e.Decimals)
		}
	}
	return w.Flush()
}

// findings prints every reason of a report on standard error.
func (c Commands) findings(r verify.Report) {
	for _, x := range r.Reasons {
		c.finding(x)
	}
}

func (c Commands) finding(r verify.Reason) { cli.Finding(c.Err, r) }

// orRefused is err, or a refusal when the report has one.
func orRefused(err error, r verify.Report) error {
	if err == nil && r.Refused() {
		return &cli.RefusedError{Problem: "the list does not pass its checks"}
	}
	return err
}
