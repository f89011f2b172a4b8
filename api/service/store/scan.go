package store

import "bytes"

// AscendPrefix calls fn for every entry whose key begins with prefix, in
// ascending order, until fn returns false. An empty prefix means all entries.
// The rules of [Bucket] Ascend apply.
func AscendPrefix(b Bucket, prefix []byte, fn func(key, value []byte) bool) {
	b.Ascend(prefix, func(k, v []byte) bool {
		return bytes.HasPrefix(k, prefix) && fn(k, v)
	})
}

// DescendPrefix is AscendPrefix in descending order.
func DescendPrefix(b Bucket, prefix []byte, fn func(key, value []byte) bool) {
	b.Descend(after(prefix), func(k, v []byte) bool {
		if !bytes.HasPrefix(k, prefix) {
			// Only the key that follows the whole range can come first.
			return bytes.Compare(k, prefix) > 0
		}
		return fn(k, v)
	})
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

// after returns the least key that is greater than every key with the prefix,
// nil when there is none.
func after(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xff {
			next := bytes.Clone(prefix[:i+1])
			next[i]++
			return next
		}
	}
	return nil
}
