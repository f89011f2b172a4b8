package store

// Get reads one value in a view of its own, nil when the key is absent.
func Get(s Store, bucket string, key []byte) (value []byte, err error) {
	err = s.View(func(tx Tx) error {
		value = tx.Bucket(bucket).Get(key)
		return nil
	})
	return value, err
}

// Size counts the entries of a bucket and the bytes of their keys and values.
func Size(b Bucket) (entries int, bytes int64) {
	b.Ascend(nil, func(k, v []byte) bool {
		entries++
		bytes += int64(len(k) + len(v))
		return true
	})
	return entries, bytes
}
