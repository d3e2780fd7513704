// graphile-worker under bench/engines.py: `install`, `put` and `work`. Completions are not held back.
import { Logger, makeWorkerUtils, run } from "graphile-worker";
import pg from "pg";

const [mode, connectionString, ...rest] = process.argv.slice(2);
const logger = new Logger(() => () => {});
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));
process.on("uncaughtException", (error) => console.error(error)); // a pool's idle connection that the server ended

if (mode === "install") {
  const utils = await makeWorkerUtils({ connectionString, logger });
  await utils.migrate();
  await utils.release();
} else if (mode === "put") {
  const [first, count, rate] = rest.map(Number);
  const acknowledged = [];
  const pool = new pg.Pool({ connectionString, max: 1 });
  pool.on("error", () => {});
  const began = Date.now();
  const add = "select graphile_worker.add_job('record', json_build_object('job', $1::int))";
  const addAll = `select graphile_worker.add_jobs(array_agg(json_populate_record(null::graphile_worker.job_spec,
      json_build_object('identifier', 'record', 'payload', json_build_object('job', n)))))
      from generate_series($1::int, $2::int) as n`;
  if (rate === 0) {
    await pool.query(addAll, [first, first + count - 1]);
    for (let job = first; job < first + count; job += 1) acknowledged.push(job);
  }
  for (let nth = 0; rate > 0 && nth < count; nth += 1) {
    await pause(began + (nth * 1000) / rate - Date.now());
    try {
      await pool.query(add, [first + nth]);
      acknowledged.push(first + nth);
    } catch {
      await pause(50);
    }
  }
  console.log(JSON.stringify(acknowledged));
  await pool.end();
} else if (mode === "work") {
  const outside = new pg.Pool({ connectionString: rest[0], max: 8 });
  const runner = await run({
    taskList: {
      record: async ({ job }) => {
        await pause(20);
        await outside.query("insert into done (job) values ($1)", [job]);
        await pause(20);
      },
    },
    noHandleSignals: true,
    preset: { worker: { connectionString, concurrentJobs: 24, maxPoolSize: 26, pollInterval: 1000, logger } },
  });
  process.on("SIGTERM", async () => {
    await runner.stop();
    process.exit(0);
  });
}
