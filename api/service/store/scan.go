package store

// Size counts the entries of a bucket and the bytes of their keys and values.
func Size(b Bucket) (entries int, bytes int64) {
	b.Ascend(nil, func(k, v []byte) bool {
		entries++
		bytes += int64(len(k) + len(v))
		return true
	})
	return entries, bytes
}
