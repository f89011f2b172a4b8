package service

import (
	"context"
	"errors"

	"coffer/api"
	"coffer/api/service/httpapi"
	"coffer/api/service/portfolio"
)

// funding gives test funds to the accounts that a quote request names, before the use case looks at them (protocol
// §5.4). Who receives is not an account of the request and gets none.
type funding struct {
	httpapi.Quoter
	accounts *portfolio.Portfolio
}

// Prepare funds and prepares.
func (f funding) Prepare(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.Prepare)
}

// PrepareV1 funds and prepares.
func (f funding) PrepareV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.PrepareV1)
}

// CallQuote funds and quotes.
func (f funding) CallQuote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.CallQuote)
}

// CallQuoteV1 funds and quotes.
func (f funding) CallQuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.CallQuoteV1)
}

// Quote funds and quotes.
func (f funding) Quote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.Quote)
}

// QuoteV1 funds and quotes.
func (f funding) QuoteV1(ctx context.Context, doc *api.Document) (*api.Document, error) {
	return f.first(ctx, doc, f.Quoter.QuoteV1)
}

// named are the places where the bodies name accounts.
type named struct {
	Account  *api.Account  `json:"account"`
	Accounts []api.Account `json:"accounts"`
}

func (f funding) first(ctx context.Context, doc *api.Document,
	then func(context.Context, *api.Document) (*api.Document, error)) (*api.Document, error) {
	var top named
	var body struct {
		From named `json:"from"`
	}
	if err := errors.Join(doc.Decode(&top), doc.Decode(&body)); err != nil {
		return nil, api.NewDecodeError(err)
	}
	for _, n := range []named{top, body.From} {
		accounts := n.Accounts
		if n.Account != nil {
			accounts = append(accounts, *n.Account)
		}
		if err := f.accounts.FundAccounts(ctx, accounts); err != nil {
			return nil, err
		}
	}
	return then(ctx, doc)
}
