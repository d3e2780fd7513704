package fe.client;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.function.Supplier;

/**
 * Keeps tokens where other processes find them: a key may log in five times a minute only.
 *
 * <p>A program that runs for hours needs none, since a `Fe` keeps its token. One that is started for each sale does.
 */
public interface TokenCache {
    /** What was kept under this key, or null. */
    String get(String key);

    /** Keep a value, for so many seconds; it holds when it ends. */
    void set(String key, String value, long seconds);

    /** Let one process at a time do something, where the cache can. */
    default <T> T alone(String key, Supplier<T> act) {
        return act.get();
    }

    /** Files in a folder that only this user may read, such as `Path.of(System.getProperty("user.home"), ".fe-tokens")`. */
    static TokenCache inFolder(Path folder) {
        return new InFolder(folder);
    }

    /** Files of one folder. */
    final class InFolder implements TokenCache {
        private final Path folder;
        private final boolean hasModes = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");

        InFolder(Path folder) {
            this.folder = folder;
        }

        @Override
        public String get(String key) {
            try {
                return Files.readString(file(key));
            } catch (NoSuchFileException none) {
                return null;
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public void set(String key, String value, long seconds) {
            try {
                file(key);
                Path written = Files.createTempFile(folder, key, ".new", mode("rw-------"));
                Files.writeString(written, value);
                Files.move(written, file(key), StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
        }

        @Override
        public <T> T alone(String key, Supplier<T> act) {
            Path lock;
            try {
                lock = file(key).resolveSibling(key + ".lock");
            } catch (IOException error) {
                throw new UncheckedIOException(error);
            }
            // Threads of one process first: a second lock of one file within a process is refused.
            synchronized (TokenCache.class) {
                try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                    channel.lock(); // until it is closed
                    return act.get();
                } catch (IOException error) {
                    throw new UncheckedIOException(error);
                }
            }
        }

        private Path file(String key) throws IOException {
            if (!Files.isDirectory(folder)) {
                Files.createDirectories(folder, mode("rwx------"));
            }
            if (hasModes && !PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)).endsWith("------")) {
                throw new IOException(folder + " must be a folder that no other user can read (mode 0700)");
            }
            return folder.resolve(key + ".json");
        }

        private FileAttribute<?>[] mode(String mode) {
            return hasModes
                    ? new FileAttribute<?>[] {PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))}
                    : new FileAttribute<?>[0];
        }
    }
}
