package openapi

// Unused returns the rows of the table that no type of the endpoints has: each is a mistake.
func Unused(endpoints []Endpoint) []string {
	b := &builder{notes: notes(), used: map[string]bool{}, schemas: map[string]object{}}
	for _, e := range endpoints {
		_, _ = b.operation(e) // an error shows in Describe
	}
	_ = b.errors()
	var out []string
	for name := range b.notes {
		if !b.used[name] {
			out = append(out, name)
		}
	}
	return out
}
