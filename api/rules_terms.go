package api

import "coffer/api/pattern"

// The forms of what a quote says, as the description has them.
var (
	reAssetType = pattern.New(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}/[-a-z0-9]{3,8}:[-.%a-zA-Z0-9]{1,128}$`)
	reAggregate = pattern.New(`^ob:[^\s]+$`)
	reUSD       = pattern.New(`^[0-9]+\.[0-9]{2}$`)
	reWorth     = pattern.New(`^([0-9]+\.[0-9]{2})?$`)
	rePercent   = pattern.New(`^[0-9]+(\.[0-9]+)?$`)
	reRecipient = pattern.New(`^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[a-zA-Z0-9]+$`)
)

const (
	wantUSD    = "US dollars with two decimals, such as 10.00"
	wantWorth  = wantUSD + ", or nothing where there is no price"
	wantAmount = "an amount in base units"
	wantAsset  = "a CAIP-19 asset type"
)

// originToken checks what a quote says is paid.
func originToken(p place) {
	if !p.object() {
		return
	}
	aggregate(p)
	p.get("amount").str(wantAmount, isAmount)
	for _, asset := range p.get("assetType").list("CAIP-19 asset types", 0, 256) {
		asset.str(wantAsset, reAssetType.MatchString)
	}
	for _, worth := range p.get("fiatValue").list("values of assets", 0, 256) {
		if worth.object() {
			worth.get("assetType").str(wantAsset, reAssetType.MatchString)
			worth.get("amount").optional(wantAmount, isAmount)
			worth.get("fiatValue").str(wantWorth, reWorth.MatchString)
		}
	}
}

// destinationToken checks what a quote says is delivered.
func destinationToken(p place) {
	if !p.object() {
		return
	}
	aggregate(p)
	p.get("amount").str(wantAmount, isAmount)
	p.get("assetType").str(wantAsset, reAssetType.MatchString)
	p.get("fiatValue").str(wantWorth, reWorth.MatchString)
	p.get("minimumAmount").optional(wantAmount, isAmount)
	p.get("minimumFiatValue").optional(wantWorth, reWorth.MatchString)
	if d := p.get("decimals"); d.present() {
		d.integer(0, 18)
	}
	p.get("recipientAccount").optional("an account as <chain>:<address>", reRecipient.MatchString)
}

func aggregate(p place) {
	p.get("aggregatedAssetId").str("an aggregated asset id such as ob:usdc", reAggregate.MatchString)
}

// tolerances checks the slippage of a quote, which may be absent.
func tolerances(p place) {
	if !p.present() || !p.object() {
		return
	}
	for _, name := range []string{"origin", "destination"} {
		if side := p.get(name); side.object() {
			side.get("percent").str("a percentage as a decimal, such as 0.5", rePercent.MatchString)
			side.get("usd").str(wantUSD, reUSD.MatchString)
			side.get("value").str(wantAmount, isAmount)
		}
	}
}

// fees checks the fees of a quote, which may be absent.
func fees(p place) {
	if !p.present() || !p.object() {
		return
	}
	if assets := p.get("assets"); assets.object() {
		for _, fee := range assets.entries() {
			fee.str(wantAmount, isAmount)
		}
	}
	p.get("cumulativeUSD").str(wantUSD, reUSD.MatchString)
}
