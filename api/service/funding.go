package service

import (
	"context"

	"coffer/api"
	"coffer/api/service/httpapi"
	"coffer/api/service/portfolio"
)

// funding gives test funds to the accounts that a quote request names, before the use case looks at them (protocol §5.4).
type funding struct {
	httpapi.Quoter
	accounts *portfolio.Portfolio
}

// Prepare funds and prepares.
func (f funding) Prepare(ctx context.Context, doc *api.Document) (*api.Document, error) {
	if err := f.fund(ctx, doc); err != nil {
		return nil, err
	}
	return f.Quoter.Prepare(ctx, doc)
}

// CallQuote funds and quotes.
func (f funding) CallQuote(ctx context.Context, doc *api.Document) (*api.Document, error) {
	if err := f.fund(ctx, doc); err != nil {
		return nil, err
	}
	return f.Quoter.CallQuote(ctx, doc)
}

func (f funding) fund(ctx context.Context, doc *api.Document) error {
	var named struct {
		Accounts []api.Account `json:"accounts"`
	}
	if err := doc.Decode(&named); err != nil {
		return api.NewDecodeError(err)
	}
	return f.accounts.FundAccounts(ctx, named.Accounts)
}
