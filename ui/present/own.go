package present

import "coffer/api"

// Own is an account of the person's profile. Name is the person's own word for it, or its place among several accounts;
// "" for the only one. Used: requests and signatures are of it now. Default: they are unless another one is chosen.
type Own struct {
	api.Account
	Name          string
	Used, Default bool
}

// Current is the name of the account in use; "" where nothing is to choose and it has no name.
func Current(all []Own) string {
	for _, a := range all {
		if a.Used && a.IsEVM() {
			return a.Name
		}
	}
	return ""
}

// Choices are the accounts of which one is used at a time; none where nothing is to choose.
func Choices(all []Own) []Own {
	var out []Own
	for _, a := range all {
		if a.IsEVM() {
			out = append(out, a)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
