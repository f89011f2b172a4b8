package store

// Seal copies a value as it is kept: packed where that saves an eighth, and followed by the checksum of bucket, key and
// value. Every store that outlives its process keeps values so; the bytes are the same in each.
func Seal(bucket string, key, value []byte) []byte { return sumsOf(bucket).seal(key, value) }

// Unseal returns the value of what Seal made, in the memory that was given unless it was packed; false when it is not
// what was written.
func Unseal(bucket string, key, sealed []byte) (value []byte, ok bool) {
	return sumsOf(bucket).unseal(key, sealed)
}
