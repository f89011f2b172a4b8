package present

import (
	"math/big"
	"strings"

	"coffer/api"
	"coffer/api/amount"
	"coffer/api/caip"
	"coffer/api/catalog"
)

// Fees are the fees of a record as its review showed them; of another device's swap or transfer that is completed, what
// was paid beyond what arrived; else NotReported.
func (s Receipts) Fees(r Record) string {
	t, _ := s.terms(r.QuoteID)
	switch {
	case !t.FeesNamed && r.Status == api.StatusCompleted:
		if v := s.FeesMicro(r); v != nil {
			return USD(v) + ", what was paid less what arrived"
		}
		return NotReported
	case !t.FeesNamed:
		return NotReported
	case len(t.Fees) == 0:
		return "none"
	}
	var out []string
	for _, f := range t.Fees {
		out = append(out, Figure(s.Catalog, f.Asset, f.Amount))
	}
	words := strings.Join(out, ", ")
	if v, ok := new(big.Int).SetString(t.FeesMicro, 10); ok {
		words += " ($" + amount.Group(amount.USD2(v)) + ")"
	}
	return words + ", as reviewed"
}

// FeesMicro is the value of the fees of a completed record in micro USD, nil when it is unknown. The journal is asked
// first. Without it a record tells the fees of a swap or a transfer, but not those of a call: the call also uses what
// was on its chain before, which the record leaves out.
func (s Receipts) FeesMicro(r Record) *big.Int {
	if t, _ := s.terms(r.QuoteID); t.FeesNamed {
		if len(t.Fees) == 0 {
			return new(big.Int)
		}
		if v, ok := new(big.Int).SetString(t.FeesMicro, 10); ok && v.Sign() >= 0 {
			return v
		}
		return nil
	}
	if r.Status != api.StatusCompleted {
		return nil
	}
	paid, errPaid := amount.ParseBase(r.Paid)
	got, errGot := amount.ParseBase(r.Got)
	from, to := feeUnit(s.Catalog, r.PaidAsset), feeUnit(s.Catalog, r.GotAsset)
	var fee *big.Int
	switch {
	case errPaid == nil && errGot == nil && paid.Sign() == 0 && got.Sign() == 0:
		return new(big.Int)
	case Used(r.Kind) || r.GotMicro == nil:
		return nil
	case errPaid == nil && errGot == nil && got.Sign() > 0 && from.aggregate != "" && from.aggregate == to.aggregate:
		most := max(from.decimals, to.decimals)
		p, g := amount.Scale(paid, from.decimals, most), amount.Scale(got, to.decimals, most)
		fee = new(big.Int).Sub(p, g)
		fee.Mul(fee, r.GotMicro).Quo(fee, g)
	case r.PaidMicro == nil:
		return nil
	default:
		fee = new(big.Int).Sub(r.PaidMicro, r.GotMicro)
	}
	if fee.Sign() < 0 {
		return nil
	}
	return fee
}

// assetUnit is the aggregate and the decimals of an asset; no aggregate: the catalogue does not know the asset.
type assetUnit struct {
	aggregate string
	decimals  int
}

func feeUnit(c *catalog.Catalog, id string) assetUnit {
	if a, ok := c.Aggregate(caip.AggregateID(id)); ok {
		return assetUnit{id, a.Decimals}
	}
	if a, err := caip.ParseAsset(id); err == nil {
		if e, ok := c.Entity(a); ok {
			return assetUnit{e.Aggregate.String(), e.Decimals}
		}
	}
	return assetUnit{}
}

// Of is a record of history as the service wrote it.
func (s Receipts) Of(r api.HistoryRecord) Record {
	paid := r.OriginToken.AggregatedAssetID
	if _, known := s.Catalog.Aggregate(caip.AggregateID(paid)); !known && len(r.OriginToken.AssetType) == 1 {
		paid = r.OriginToken.AssetType[0]
	}
	return Record{
		QuoteID: r.QuoteID, Kind: r.Type, Status: r.Status, GotAsset: r.DestinationToken.AssetType,
		Got: r.DestinationToken.Amount, PaidAsset: paid, Paid: r.OriginToken.Amount,
		PaidMicro: total(r.OriginToken.FiatValue), GotMicro: Micro(api.Number(r.DestinationToken.FiatValue)),
	}
}

// total adds up the values of payments; nil when one is unknown or there are none.
func total(values []api.TokenFiat) *big.Int {
	if len(values) == 0 {
		return nil
	}
	sum := new(big.Int)
	for _, v := range values {
		m := Micro(api.Number(v.FiatValue))
		if m == nil {
			return nil
		}
		sum.Add(sum, m)
	}
	return sum
}
