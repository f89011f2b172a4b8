package verify

import (
	"net/url"
	"strings"

	"coffer/api"
	"coffer/api/caip"
	"coffer/api/catalog"
	"coffer/api/network"
	"coffer/api/text"
)

// Bounds of a history that is read page by page (TH-H3).
const (
	MaxContinuation = 4096  // bytes of the token of the next page
	MaxPages        = 1_000 // of one reading
)

// Continuation decides whether the page after token is asked for. seen holds the tokens of the pages that were asked
// for since the reading began, the empty one of the first page among them; it is not changed. Without a token history
// is at its end: no more, and no reason. A reason says why reading stops before the end.
func Continuation(seen map[string]bool, token string) (more bool, why *Reason) {
	stop := func(title, want, got string) (bool, *Reason) {
		return false, &Reason{Code: "H3", Level: Warn, Title: title, Path: "/continuation", Want: want, Got: got}
	}
	switch {
	case token == "":
		return false, nil
	case len(token) > MaxContinuation:
		return stop("The service's mark for the next page is too long.", "at most "+plural(MaxContinuation, "byte"),
			plural(len(token), "byte"))
	case seen[token]:
		return stop("The service repeats itself.", "another page", "a page that was read before")
	case len(seen) >= MaxPages:
		return stop("The history has more pages than this program reads.", "at most "+plural(MaxPages, "page"), "more")
	}
	return true, nil
}

// StatusView is what a status means (TH-H4). Text is in plain words; an unknown one is "unknown: …" with the cleaned
// text of the service, or "unknown" for none. Known: one of the six of the interface. Success: COMPLETED and nothing
// else. Terminal: it can no longer change; an unknown one can.
type StatusView struct {
	Text                     string
	Known, Success, Terminal bool
}

// Status reads the status of a quote.
func Status(status string) StatusView {
	v := StatusView{Known: true, Success: status == api.StatusCompleted, Terminal: api.Terminal(status)}
	switch status {
	case api.StatusPending:
		v.Text = "pending"
	case api.StatusInProgress:
		v.Text = "in progress"
	case api.StatusExecuted:
		v.Text = "executed"
	case api.StatusCompleted:
		v.Text = "completed"
	case api.StatusRefunded:
		v.Text = "refunded"
	case api.StatusFailed:
		v.Text = "failed"
	default:
		v.Known, v.Text = false, "unknown"
		if status != "" {
			v.Text = "unknown: " + text.Clean(status, 40)
		}
	}
	return v
}

// maxURL bounds the address of a page, in bytes.
const maxURL = 2048

// ExplorerURL reports whether link is a page that may pass for one of the chain's explorer (TH-H2): https, on the host
// of the catalogue's explorer for a network of kind real, on the host of the service itself for one inside this program
// or in a lab. service is the base URL of the service, chain is CAIP-2. Otherwise there is a reason, and the link is
// plain text at most. Nothing is ever opened.
func ExplorerURL(c *catalog.Catalog, kind network.Kind, service, chain, link string) (bool, *Reason) {
	want := pageHost(c, kind, service, chain)
	if want != "" && pageOn(link) == want {
		return true, nil
	}
	r := Reason{Code: "H2", Level: Warn, Title: "The address is not a page of the chain's known explorer.",
		Path: "/explorerUrl", Want: "no page at all", Got: text.Clean(link, maxText)}
	if want != "" {
		r.Want = "https://" + text.Clean(want, maxText)
	}
	return false, &r
}

// pageHost is the host on which a chain has its pages, "" when there is none.
func pageHost(c *catalog.Catalog, kind network.Kind, service, chain string) string {
	id, err := caip.ParseChain(chain)
	if err != nil || c == nil {
		return ""
	}
	info, ok := c.Chain(id)
	switch {
	case !ok:
		return ""
	case kind == network.Real || kind == network.Test:
		return pageOn(info.Explorer)
	case kind == network.Embedded || kind == network.Lab:
		return pageOn(service)
	}
	return ""
}

// pageOn returns the host, with its port, of an https address that every reader takes for the same; "" of any other.
func pageOn(link string) string {
	if len(link) > maxURL || strings.IndexFunc(link, func(r rune) bool {
		return r <= ' ' || r > '~' ||
			strings.ContainsRune("\\\"<>^`{|}", r)
	}) >= 0 {
		return ""
	}
	u, err := url.Parse(link)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Opaque != "" {
		return ""
	}
	return strings.ToLower(u.Host)
}
