package io.farheap.posix;

/** Linux's error numbers, in words. */
public final class Errno {

    public static final int EPERM = 1;
    public static final int EINTR = 4;
    public static final int EIO = 5;
    public static final int EAGAIN = 11;
    public static final int ENOMEM = 12;
    public static final int EACCES = 13;
    public static final int EBUSY = 16;
    public static final int EINVAL = 22;
    public static final int EMFILE = 24;
    public static final int ENOSPC = 28;
    public static final int EOPNOTSUPP = 95;
    public static final int ECANCELED = 125;

    private Errno() {}

    /** The symbolic name, if it is one of those that Farheap's calls return, with a remedy if there is one. */
    public static String describe(int errno) {
        return switch (errno) {
            case EPERM -> "EPERM (not permitted)";
            case 2 -> "ENOENT (no such file)";
            case EIO -> "EIO (the device failed)";
            case EAGAIN -> "EAGAIN (try again; for a registration: the locked-memory limit, raise `ulimit -l`)";
            case ENOMEM ->
                "ENOMEM (out of memory, or above the locked-memory limit: raise `ulimit -l` or LimitMEMLOCK=)";
            case EACCES -> "EACCES (permission denied; for a device: the user needs access to /dev/infiniband)";
            case 14 -> "EFAULT (bad address)";
            case EBUSY -> "EBUSY (still in use)";
            case 19 -> "ENODEV (no such device)";
            case EINVAL -> "EINVAL (invalid argument)";
            case 23 -> "ENFILE (the machine has too many open files: raise the sysctl fs.file-max)";
            case EMFILE -> "EMFILE (too many open files: raise `ulimit -n`)";
            case 27 -> "EFBIG (the file would be larger than may be: see `ulimit -f`)";
            case ENOSPC -> "ENOSPC (no space)";
            case 30 -> "EROFS (the file system is read-only)";
            case 37 -> "ENOLCK (no locks: the file system has none, or its lock service does not run)";
            case 38 -> "ENOSYS (not implemented)";
            case EOPNOTSUPP -> "EOPNOTSUPP (not supported by this device)";
            case 98 -> "EADDRINUSE (the address is taken)";
            case 122 -> "EDQUOT (the user's quota is used up)";
            case 110 -> "ETIMEDOUT (timed out)";
            default -> "errno " + errno;
        };
    }
}
