// The supplier of test_stranger.py: the library dgii-ecf, unmodified. Gets one JSON object, prints one.
const { ECF, P12Reader, Signature, ENVIRONMENT } = require('dgii-ecf');

async function main() {
  const order = JSON.parse(require('fs').readFileSync(0, 'utf8'));
  const certificate = new P12Reader(order.passphrase).getKeyFromStringBase64(order.p12);
  const signature = new Signature(certificate.key, certificate.cert);
  const ecf = new ECF(certificate, ENVIRONMENT.DEV);
  const told = {};
  const token = await ecf.authenticate(order.host);
  told.token = { expira: token.expira, expedido: token.expedido };
  told.signed = signature.signXml(order.xml, 'ECF');
  told.first = await ecf.sendElectronicDocument(told.signed, order.fileName, order.host);
  told.again = await ecf.sendElectronicDocument(told.signed, order.fileName, order.host);
  process.stdout.write(JSON.stringify(told));
}

main().catch((error) => {
  process.stderr.write(String((error && error.stack) || JSON.stringify(error)));
  process.exit(1);
});
